// Package sessioncmd has the commands that go on over many questions:
//
//	discreet stream   stream*.go   counting questions on one budget, and their rehearsal
//	discreet holdout  holdout*.go  scores on a holdout, and what theorems promise about them
//	discreet train    train.go     models that are trained privately, and a comparison of methods
//	discreet predict  predict.go   what a model says of rows
package sessioncmd
