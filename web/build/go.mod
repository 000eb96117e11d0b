module github.com/discreet-dp/discreet/web/build

go 1.25

require github.com/evanw/esbuild v0.28.2

require golang.org/x/sys v0.0.0-20220715151400-c0bba94af5f8 // indirect
