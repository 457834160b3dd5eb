module clipscope

go 1.26

ignore (
	./web/edge/node_modules
	./web/node_modules
)

require (
	github.com/coder/websocket v1.8.14
	github.com/maxence-charriere/go-app/v10 v10.1.11
	github.com/syumai/workers v0.32.0
	github.com/yuin/goldmark v1.7.13
	gonum.org/v1/gonum v0.17.0
)

require github.com/google/uuid v1.6.0 // indirect

tool github.com/syumai/workers/cmd/workers-assets-gen
