// Package sessioncmd has the commands that go on over many questions: discreet stream and holdout,
// each with files that begin with its name, and train and predict.
package sessioncmd
