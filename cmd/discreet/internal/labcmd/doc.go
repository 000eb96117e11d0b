// Package labcmd has the commands that need no data of an owner:
//
//	discreet account   account*.go  what mechanisms cost together, the noise for a budget, pictures
//	discreet audit     audit.go     what attacks on the mechanisms found
//	discreet demo      demo*.go     a story on made-up data, and folders of such data
//	discreet survey    survey.go    a survey in which everybody randomizes their own answer
package labcmd
