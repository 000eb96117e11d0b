package daily

import "flag"

// Together lets n tests that wait, and say so by t.Parallel, run at once, also where there are
// fewer processors, unless -parallel says how many. A package calls it in its TestMain.
func Together(n string) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", n)
	}
}
