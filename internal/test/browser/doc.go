// Package browser tests the page: its tests run a real Chromium, without a window, against the real
// server. There is nothing else in it.
//
// Every test sees what the browser has to complain about, and none may leave anything: errors on
// the console, exceptions, requests that failed or that went elsewhere, and whatever the content
// security policy forbade. TestViews walks the table of views (views_test.go), which is where a new
// view is entered, dark and light, on a desktop and on a phone, and has axe look at each. With
//
//	go test ./internal/test/browser -run TestViews -screenshots ../../../docs/img/page
//
// it writes the pictures of the documentation.
//
// Chromium is what DISCREET_CHROMIUM names, or what is in PATH. Without one the tests are skipped,
// unless DISCREET_NEED_CHROMIUM is set: then they fail.
package browser
