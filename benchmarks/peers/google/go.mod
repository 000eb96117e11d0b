module github.com/discreet-dp/discreet/benchmarks/peers/google

go 1.26.0

require github.com/google/differential-privacy/go/v3 v3.0.0

require (
	github.com/golang/glog v1.2.0 // indirect
	golang.org/x/exp v0.0.0-20260112195511-716be5621a96 // indirect
	gonum.org/v1/gonum v0.14.0 // indirect
)
