package link

import (
	"os"
	"strings"
	"testing"

	"clipscope/ui/lesson"
)

func TestCanonicalGivesOneAddress(t *testing.T) {
	long := "/#note=" + strings.Repeat("n", Longest)
	for _, c := range []struct{ in, out, fault string }{
		{in: "/#data=moons&seed=1", out: "/#data=moons&seed=1"},
		{in: "/#seed=1&data=moons", out: "/#data=moons&seed=1"},
		{in: "/#method=psac&r=0.2", out: "/#method=psac&r=0.2"},
		{in: "/#note=a b\r\nSet-Cookie: x", out: "/#note=a+b%0D%0ASet-Cookie%3A+x"},
		{in: "/#note=ε", out: "/#note=%CE%B5"},
		{in: "/#csv.bounds.age.lo=0&csv.bounds.age.hi=9", out: "/#csv.bounds.age.hi=9&csv.bounds.age.lo=0"},
		{in: "/lab/#lab.c=0.3&lab.with=auto-s,psac&lab.step=30&data=moons&max_grad_norm=1&method=dc-e&noise_multiplier=1&seed=7",
			out: "/lab/#lab.c=0.3&lab.with=auto-s,psac&lab.step=30&data=moons&max_grad_norm=1&method=dc-e&noise_multiplier=1&seed=7"},
		{in: "/lab/#lesson=first-steps", out: "/lab/#lesson=first-steps"},
		{in: "/lab/#lesson=u.3", out: "/lab/#lesson=u.3"},
		{in: "/lab/#lesson=u.1", out: "/lab/#lesson=u"},
		{in: "/lab/#lesson=u.0", fault: `["lesson"]`},
		{in: "/lab/#lesson=u.100", fault: `["lesson"]`},
		{in: "/lab/#lesson=u.", fault: `["lesson"]`},
		{in: "/lab/#lesson=u.3.1", fault: `["lesson"]`},
		{in: "", fault: "begins with neither"},
		{in: "//evil.example/#data=moons", fault: "begins with neither"},
		{in: "https://evil.example/#data=moons", fault: "begins with neither"},
		{in: "/../#data=moons", fault: "begins with neither"},
		{in: "/lab#lab.c=1", fault: "begins with neither"},
		{in: "/\\evil.example#data=moons", fault: "begins with neither"},
		{in: "/x/bakitu-fonisa-rulabo", fault: "begins with neither"},
		{in: "/", fault: "no setting"},
		{in: "/#", fault: "no setting"},
		{in: "/#privacy", fault: "no setting"},
		{in: "/#data=nowhere", fault: `["data"]`},
		{in: "/#epochs=many", fault: `["epochs"]`},
		{in: "/#rows=1,2,3;4,5,6", fault: `["rows"]`},
		{in: "/#method=psac&nothing=0.2", fault: `["nothing"]`},
		{in: "/#a.b.c.d.e.f=1", fault: `["a.b.c.d.e.f"]`},
		{in: "/#epochs=", fault: `["epochs"]`},
		{in: "/lab/#lab.c=-1", fault: `["lab.c"]`},
		{in: "/lab/#lab.c=1e308", fault: `["lab.c"]`},
		{in: "/lab/#lab.c=1e-13", fault: `["lab.c"]`},
		{in: "/lab/#data=files", fault: `["data"]`},
		{in: "/lab/#method=value", fault: `["method"]`},
		{in: "/lab/#lab.lanes=seed=1,2", fault: `["lab.lanes"]`},
		{in: "/lab/#lab.step=1000000", fault: `["lab.step"]`},
		{in: "/lab/#lab.linear=yes", fault: `["lab.linear"]`},
		{in: "/lab/#lab.c=1&lab.linear=TRUE", out: "/lab/#lab.c=1&lab.linear=true&data=digits&epochs=20&expected_batch_size=512&learning_rate=0.3&max_grad_norm=1&method=constant&model.kind=softmax&seed=1&target_epsilon=8"},
		{in: "/lab/#lesson=A\r\nB", fault: `["lesson"]`},
		{in: "/lab/#lesson=", fault: `["lesson"]`},
		{in: "/lab/#lab.lanes=method=a b,c", fault: `["lab.lanes"]`},
		{in: "/#epochs=0", fault: `["epochs=0"]`},
		{in: long, fault: "longer than 8192"},
		{in: "/#note=" + strings.Repeat("ε", Longest/2-10), fault: "longer than 8192"},
	} {
		got, err := Canonical(c.in)
		switch {
		case c.out != "" && (err != nil || got != c.out):
			t.Errorf("%.60q: %q, %v, want %q", c.in, got, err, c.out)
		case c.out == "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%.60q: %q, %v, want an error with %q", c.in, got, err, c.fault)
		}
	}
}

// What Canonical returns stands in a header, and leads nowhere but to a page.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"/#data=moons&seed=1", "/#note=%0d%0a&csv.label=ε", "/lab/#lab.c=0.3&lab.with=auto-s&lab.lanes=max_grad_norm=1,3",
		"/lab/#lesson=x", "//e#a=1", "/lab/#lab.lanes=target_epsilon=inf,1&data=digits", "/lab/#lab.lanes=method=a b,ε", "/#model.layers=dense:3,relu"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		got, err := Canonical(address)
		if err != nil {
			return
		}
		if !Leads(got) {
			t.Fatalf("%q leads to %q", address, got)
		}
		if again, err := Canonical(got); err != nil || again != got {
			t.Fatalf("%q becomes %q, and that %q, %v", address, got, again, err)
		}
	})
}

func TestAddressesOfPagesLeadThere(t *testing.T) {
	for address, want := range map[string]bool{
		"/#a=1": true, "/lab/#lesson=x": true, "/#from-a-later-version": true,
		"": false, "/": false, "/#": false, "/lab#a=1": false, "//evil.example/#a=1": false, "/#a b": false, "/#a\nb": false, "/#ε": false, "/x/y#a=1": false,
		"https://evil.example/#a=1": false, "/#" + strings.Repeat("a", Longest): false,
	} {
		if Leads(address) != want {
			t.Errorf("%.60q: %v", address, !want)
		}
	}
}

func TestLessonsHaveNamesThatALinkCanHold(t *testing.T) {
	b, err := os.ReadFile("../../assets/lessons.json")
	if err != nil {
		t.Fatal(err)
	}
	lessons, err := lesson.Read(b)
	if err != nil || len(lessons) == 0 {
		t.Fatalf("%d lessons, %v", len(lessons), err)
	}
	for _, l := range lessons {
		if s, lost := ReadLab(Lab{Lesson: l.ID}.Hash()); s.Lesson != l.ID || len(lost) > 0 {
			t.Errorf("the link to %q leads to %q, %v", l.ID, s.Lesson, lost)
		}
	}
}
