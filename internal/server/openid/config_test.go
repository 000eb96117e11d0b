package openid

import "testing"

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Client: "x"}, {Issuer: "login.example.org", Client: "x"}, {Issuer: "http://login.example.org", Client: "x"},
		{Issuer: "https://login.example.org"}, {Issuer: "https://login.example.org?a=b", Client: "x"},
		{Issuer: "ftp://127.0.0.1", Client: "x"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	c := Config{Issuer: "https://login.example.org/realms/x", Client: "x"}
	if err := c.Check(); err != nil || c.Claim != "email" || c.Name != "login.example.org" {
		t.Errorf("%+v, %v", c, err)
	}
}
