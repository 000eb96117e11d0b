// Package httpapi is the door for programs: JSON over HTTP under /v1, described by the OpenAPI document that it serves.
package httpapi
