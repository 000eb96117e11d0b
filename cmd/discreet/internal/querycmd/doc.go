// Package querycmd has the commands of analysts: discreet query and explain (query.go, and
// dialogue.go where no question is given), ask (several servers at once), budget, and attach (as a
// part of another program).
package querycmd
