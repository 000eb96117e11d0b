package daily

import "flag"

// Checks lets rapid try n cases of what it makes up, which are others in every run, unless
// everything is to be run or -rapid.checks says how many. A package calls it in its TestMain.
func Checks(n string) {
	flag.Parse()
	chosen := Full()
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		_ = flag.Set("rapid.checks", n)
	}
}
