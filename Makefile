# make serve   builds everything and serves the page   (ADDR=127.0.0.1:8080, HOSTS= names beside)
# make test    the same build, then every check and test
# make site    the static site for a host, PREFIX=/repo for a sub-path, in OUT; FRAME_ANCESTORS says who may embed it
# make release an archive of the site, sums, an SBOM and licences: the same bytes anywhere, in RELEASE; LINKS=yes with short links
# make bench   the speed figures, in a real browser
# make steady  the page's tests N times, beside LOAD busy processes: what does not pass every time
# make papers  the papers' figures, where the published data are
# make together  the site with rooms in which several parties train, on this machine   (PORT=8080)
# make deploy  the site with its Worker for short links and rooms, to Cloudflare
# make fuzz    every fuzz target for TIME=60s, and a long sweep of the accountants

# Versions. Go and Node are the least that will do; everything else is pinned in
# go.mod, tools/go.mod and web/package-lock.json.
GO_MIN   := 1.26
NODE_MIN := 20

GO   ?= go
NODE ?= node
NPM  ?= npm

ADDR   ?= 127.0.0.1:8080
HOSTS  ?=
PORT   ?= 8080
PREFIX ?=
BROTLI ?= 11
RARE   ?= 9
OUT    ?= site
FRAME_ANCESTORS ?=
RELEASE ?= release
LINKS ?=

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

WASM    := GOOS=js GOARCH=wasm
LDFLAGS := -ldflags '-s -w'

# Calls are inlined in packages whose own loops are hot, and in no others: a visitor fetches more than a fifteenth less.
HOT     := clipscope/core/chacha gonum.org/v1/gonum/dsp/... math math/bits math/rand/v2 slices \
           strconv internal/strconv unicode/utf8 compress/flate hash/crc32 image/jpeg image/png internal/runtime/maps runtime
SMALL   := -gcflags=all=-l $(patsubst %,-gcflags=%=,$(HOT))

# Nothing built names the folders of the machine; and as every command of Go's
# has the same flags, each package is compiled once for all of them.
# What version control says of a folder is no part of what is built in it, either.
export GOFLAGS := $(strip -trimpath -buildvcs=false $(GOFLAGS))
NPM_CI  := $(NPM) ci --no-audit --no-fund --loglevel=error

# What things are made from.
gofiles   = $(shell find $(1) -name '*.go' ! -name '*_test.go' 2>/dev/null)
MODULE   := go.mod go.sum
SHADERS  := $(shell find core -name '*.wgsl' 2>/dev/null)
CORE     := $(call gofiles,core) $(SHADERS) web/scripts.go web/predict.mjs web/predict.py
UI       := $(call gofiles,ui assets) $(shell find ui assets -name '*.json' 2>/dev/null)
KERNELS  := $(shell find core -name '*.ts' 2>/dev/null)
STATIC   := $(shell find assets docs web/css -type f 2>/dev/null) $(addprefix web/,guard.js theme.js early.js app-worker.tmpl.js)
MODULES  := web/node_modules/.package-lock.json
EDGE_MODULES := web/edge/node_modules/.package-lock.json
BUILDS   := $(patsubst %,bin/web/%.wasm,kernels kernels-threads kernels-relaxed kernels-relaxed-threads)
BINARIES := bin/web/app.wasm $(BUILDS) bin/web/page.js bin/web/licenses.txt

.PHONY: build serve test site release bench figures papers stored-figures clean versions check format vet lint javascript test-go test-wasm test-edge test-page steady \
        suite-race suite-native suite-train suite-train-rest suite-core suite-alone suite-threads suite-edge chromium firefox numpy compiler edge deploy together fuzz

build: bin/packed/done

serve: build
	@exec bin/clipscope -out dist -addr $(ADDR) -hosts '$(HOSTS)'

site: bin/clipscope $(BINARIES) $(STATIC) $(MODULES)
	@bin/clipscope -generate -prefix '$(PREFIX)' -frame-ancestors '$(FRAME_ANCESTORS)' -out '$(OUT)'
	@$(NODE) web/compress.mjs '$(OUT)' bin/packed $(BROTLI)
	@echo "The site for $(or $(PREFIX),/) is in $(OUT)/"

dist/index.html: bin/clipscope $(BINARIES) $(STATIC) $(MODULES)
	@bin/clipscope -generate -stories -out dist
	@touch $@

# Apart from the site, as few tests wait for it, and it has one core alone.
bin/packed/done: dist/index.html web/compress.mjs
	@$(NODE) web/compress.mjs dist bin/packed $(BROTLI) $(RARE)
	@touch $@

release: bin/clipscope $(BINARIES) $(STATIC) $(MODULES) bin/web/sbom.json
	@bin/clipscope -prefix '$(PREFIX)' -frame-ancestors '$(FRAME_ANCESTORS)' $(if $(LINKS),-links) -release '$(RELEASE)'
	@cat '$(RELEASE)/SHA256SUMS'

# --- build --------------------------------------------------------------------

bin/clipscope: serve.go $(call gofiles,app/headers internal/site) $(UI) $(CORE) $(MODULE) | versions
	$(GO) build -o $@ .

bin/web/app.wasm: $(call gofiles,app wasm) $(UI) $(CORE) $(MODULE) bin/overlay.json web/lines.mjs | versions
	$(WASM) $(GO) build $(LDFLAGS) $(SMALL) -overlay bin/overlay.json -o $@ ./app
	@$(NODE) web/lines.mjs $@

# What the program has in the place of other files, for every version of Go anew.
bin/overlay.json: $(wildcard $(shell $(GO) env GOROOT 2>/dev/null)/VERSION) $(SHADERS) web/overlay.mjs | versions
	@mkdir -p bin
	@GO='$(GO)' $(NODE) web/overlay.mjs bin/shaders > $@

# One run of the compiler writes all.
bin/web/kernels.wasm: $(KERNELS) web/build-kernels.mjs $(MODULES)
	@mkdir -p bin/web
	cd web && $(NPM) run --silent kernels -- ../bin/web
	@touch $(BUILDS)

$(filter-out bin/web/kernels.wasm,$(BUILDS)): bin/web/kernels.wasm
	@touch $@

# The scripts that are bundled, in one run.
bin/web/page.js: $(wildcard web/*.js web/*.mjs) $(MODULES)
	@mkdir -p bin/web
	$(NODE) web/bundle.mjs bin/web

bin/web/licenses.txt: LICENSE $(MODULE) web/licenses.mjs web/parts.mjs web/bundle.mjs web/onnxruntime.mjs $(MODULES)
	@mkdir -p bin/web
	@GO='$(GO)' $(NODE) web/licenses.mjs > $@

bin/web/sbom.json: LICENSE $(MODULE) internal/site/generate.go web/sbom.mjs web/parts.mjs web/bundle.mjs web/onnxruntime.mjs $(MODULES)
	@mkdir -p bin/web
	@GO='$(GO)' $(NODE) web/sbom.mjs > $@

$(MODULES): web/package.json web/package-lock.json | versions
	cd web && $(NPM_CI)
	@touch $@

$(EDGE_MODULES): web/edge/package.json web/edge/package-lock.json | versions
	cd web/edge && $(NPM_CI)
	@touch $@

bin/staticcheck: tools/go.mod tools/go.sum | versions
	cd tools && $(GO) build -o ../$@ honnef.co/go/tools/cmd/staticcheck

versions:
	@command -v $(GO) >/dev/null || { echo "Go $(GO_MIN) or newer is needed: https://go.dev/dl/"; exit 1; }
	@command -v $(NODE) >/dev/null && command -v $(NPM) >/dev/null || { echo "Node $(NODE_MIN) or newer with npm is needed: https://nodejs.org/"; exit 1; }
	@$(NODE) -e 'if (parseInt(process.versions.node) < $(NODE_MIN)) { console.log("Node $(NODE_MIN) or newer is needed, this is", process.version); process.exit(1) }'

# --- test ---------------------------------------------------------------------

# All suites but that of the page are run side by side, the longest first, or the end of
# each would keep one core waiting; what tests need of the machine is installed beside them.
test: check
	@$(BESIDE) build compiler suite-train chromium suite-train-rest firefox suite-native numpy suite-race suite-core suite-edge suite-alone suite-threads
	@$(MAKE) --no-print-directory test-page
	@echo "All tests passed."

# Two targets at a time, and what each writes in one piece when it has ended; where one
# fails the other is waited for, no more are begun, and all has failed.
BESIDE = $(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# What checks and build write is ignored by git, or it would end up in a commit.
check:
	@before="$$(git status --porcelain)"; \
	  $(BESIDE) dist/index.html vet lint javascript format; \
	  new="$$(diff <(echo "$$before") <(echo "$$(git status --porcelain)") || true)"; \
	  [ -z "$$new" ] || { echo "The checks or the build changed what git sees:"; echo "$$new"; exit 1; }

format:
	@bad="$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go'))"; \
	  [ -z "$$bad" ] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }

vet:
	$(GO) vet ./...
	$(WASM) $(GO) vet ./...

lint: bin/staticcheck
	bin/staticcheck ./...
	$(WASM) bin/staticcheck ./...

javascript: $(MODULES)
	cd web && $(NPM) run --silent check

# No test is over because the machine is busy: go test's own limit is ten minutes of the clock.
PATIENT := -timeout 90m

# Packages are tested in this order; the slowest last would keep one core waiting.
SLOWEST := ./core/train ./core/privacy

# Tests of training leave much behind, and a quarter of their time went into collecting it.
SELDOM := GOGC=400

# The race detector, which makes tests some five times longer, is for the packages that
# start goroutines or share, and for all that they call; but for TestMutantsFail, which does
# neither and takes as long as all others, and of core/privacy for the tests that share. This
# folder's own tests ask its server one thing after the other, and app and wasm run in browsers.
SHARING = $(sort $(dir $(shell grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=node_modules --exclude-dir=app '"sync("|/)|^[[:space:]]*go [a-zA-Z]' .)))
ALONE  := ^TestMutantsFail$$
SHARED := ^Test(MemoryMayBeShared|Joined)

test-go: dist/index.html
	@$(BESIDE) suite-race suite-native

suite-race: compiler
	CGO_ENABLED=1 $(GO) test -vet=off $(PATIENT) -race -short -skip '$(ALONE)' $(filter-out ./ ./core/privacy/ ./wasm/,$(SHARING))
	CGO_ENABLED=1 $(GO) test -vet=off $(PATIENT) -race -short -run '$(SHARED)' ./core/privacy

suite-native:
	$(SELDOM) $(GO) test -vet=off $(PATIENT) $(SLOWEST) ./...

test-wasm: dist/index.html
	@$(BESIDE) suite-train suite-train-rest suite-core suite-alone suite-threads

# A WebAssembly program has one core: the longest is run as two, the tests that a pattern
# names and those that it does not. What is of Go alone and tests a test is left to native ones.
WASM_TEST = $(WASM) $(GO) test -vet=off $(PATIENT) -short -exec '$(NODE) --stack-size=8192 $(CURDIR)/web/go_wasm_exec.mjs'
HALF := ^Test[A-E]
NATIVE := ^TestSumLawCatchesPlantedFaults$$

suite-train:
	$(SELDOM) $(WASM_TEST) -run '$(HALF)' ./core/train

suite-train-rest:
	$(SELDOM) $(WASM_TEST) -skip '$(HALF)|$(NATIVE)' ./core/train

# What tests are made of is tested where it is fast.
suite-core:
	$(WASM_TEST) $$($(WASM) $(GO) list ./core/... ./wasm/... | grep -vE '/core/(train|compute/(rough|deferred|computetest))$$')

suite-alone:
	CLIPSCOPE_THREADS=0 $(WASM_TEST) ./core/compute/simd

suite-threads:
	CLIPSCOPE_THREADS=3 $(WASM_TEST) ./core/nn
	CLIPSCOPE_THREADS=3 $(WASM_TEST) -run TestNoiseAhead ./core/train

# The reporter's last lines are the tests that failed, each with its trace.
test-page: build chromium firefox numpy
	$(NODE) --test --test-reporter=spec --test-concurrency=2 --test-timeout=3600000 web/e2e/*.test.mjs

# What does not pass every time: the page's suite N times, beside LOAD processes that each keep a
# core busy, of the files that FILES is a pattern of.
steady: build chromium firefox numpy
	@N='$(N)' LOAD='$(LOAD)' FILES='$(FILES)' $(NODE) web/e2e/steady.mjs

# The Worker and the site in the host's own runtime, which is a program here.
test-edge: suite-edge

suite-edge: edge chromium firefox $(EDGE_MODULES)
	$(NODE) --test --test-reporter=spec --test-timeout=3600000 web/edge/*.test.mjs

# The end-to-end tests want Chromium, the race detector a C compiler. Without its windows, which
# most of them do not see, Chromium opens pages in a fifth less time.
chromium:
	@web/e2e/need.sh "$${CHROMIUM:-chromium}" chromium "set CHROMIUM to a Chromium's path, or install it: apt-get install chromium"
	@[ -n "$${CHROMIUM:-}" ] || web/e2e/need.sh chromium-headless-shell chromium-headless-shell "the page's tests use the whole browser, and take longer" || true

# Firefox is tested where there is one, its WebGPU where there is a driver that is a program.
firefox:
	@web/e2e/need.sh "$${FIREFOX:-firefox}" firefox-esr "the tests in Firefox are left out" || true
	@web/e2e/need.sh "/usr/share/vulkan/icd.d/lvp_*" mesa-vulkan-drivers "Firefox's WebGPU is not tested" || true

# predict.py is compared with predict.mjs where there is numpy.
numpy:
	@web/e2e/need.sh "/usr/lib/python3/dist-packages/numpy" "python3 python3-numpy" "predict.py is not tested" || true

compiler:
	@web/e2e/need.sh "$${CC:-gcc}" "gcc libc6-dev" "the race detector needs a C compiler: apt-get install gcc libc6-dev"

# --- more ---------------------------------------------------------------------

bench: build chromium
	cd web/bench && $(NPM_CI)
	$(NODE) web/bench/bench.mjs
	$(NODE) web/bench/loaded.mjs
	$(NODE) web/bench/webgpu.mjs
	$(NODE) web/bench/methods.mjs
	$(NODE) web/bench/mnist.mjs
	$(NODE) web/bench/read.mjs

# The figures of the page's help, measured anew: on a machine that does nothing else.
figures: build chromium
	cd web/bench && $(NPM_CI)
	$(NODE) web/bench/bench.mjs
	cp web/e2e/results/bench.json ui/figures.json

# The papers' experiments on the published data sets in ../shared: about an hour
# and a half. PAPERS picks some, by a pattern of their names.
PAPERS ?= TestPapers
papers: build
	CLIPSCOPE_PAPERS=1 $(WASM) $(GO) test -vet=off -count=1 -v -timeout 0 -run '$(PAPERS)' \
	  -exec '$(NODE) --stack-size=8192 $(CURDIR)/web/go_wasm_exec.mjs' ./core/train

# What the laboratory shows as stored of the papers' figures.
FIGURES ?= all
stored-figures: build
	CLIPSCOPE_FIGURES="$(FIGURES)" $(WASM) $(GO) test -vet=off -count=1 -v -timeout 0 -run TestStoreFiguresWritesThem \
	  -exec '$(NODE) --stack-size=8192 $(CURDIR)/web/go_wasm_exec.mjs' ./ui/lesson

# Every fuzz target of the module, one after the other as go test takes one at a
# time, and then the accountants at POINTS settings: about 20 ms each.
TIME   ?= 60s
POINTS ?= 100000
fuzz:
	@grep -ro --include='*_test.go' --exclude-dir=node_modules '^func Fuzz[A-Za-z0-9_]*' . | sort | while IFS=: read -r file func; do \
	  echo "$${func#func } in $${file%/*}"; \
	  $(GO) test -vet=off -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime '$(TIME)' -fuzzminimizetime 10x "$${file%/*}" || exit 1; \
	done
	CLIPSCOPE_POINTS='$(POINTS)' $(GO) test -vet=off -count=1 -timeout 0 -v -run '^TestSweepLiesBetweenLowerBoundAndRDP$$' ./core/privacy

# The Worker for Cloudflare, and the site, which the host itself packs. The tool
# empties the folder it writes to.
edge: dist/index.html
	$(GO) tool workers-assets-gen -mode=go -o app/edge/build
	$(WASM) $(GO) build $(LDFLAGS) -o app/edge/build/app.wasm ./app/edge
	bin/clipscope -generate -links -frame-ancestors '$(FRAME_ANCESTORS)' -out app/edge/site

# Puts them there; DEPLOY=--dry-run says what would be.
DEPLOY ?=
together: edge $(EDGE_MODULES)
	@$(NODE) web/edge/together.mjs '$(PORT)'

deploy: edge $(EDGE_MODULES)
	web/edge/node_modules/.bin/wrangler deploy --config app/edge/wrangler.jsonc $(DEPLOY)

clean:
	rm -rf bin dist site release app/edge/build app/edge/site web/e2e/results
