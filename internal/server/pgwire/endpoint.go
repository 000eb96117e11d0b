package pgwire

import (
	"crypto"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/tls"
	"crypto/x509"
)

// witnessed is a configuration that notes which certificate a handshake shows: one that is renewed
// while the server runs is not known before. Nobody resumes an earlier connection, because none is
// shown then.
func witnessed(c *tls.Config) (config *tls.Config, shown func() *tls.Certificate) {
	config = c.Clone()
	config.SessionTicketsDisabled = true
	choose := c.GetCertificate
	switch {
	case c.GetConfigForClient != nil, choose == nil && len(c.Certificates) != 1, choose != nil && len(c.Certificates) > 0:
		return config, func() *tls.Certificate { return nil } // it may choose among several
	case choose == nil:
		choose = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.Certificates[0], nil }
	}
	var last *tls.Certificate
	config.Certificates = nil
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (found *tls.Certificate, err error) {
		last, err = choose(hello)
		return last, err
	}
	return config, func() *tls.Certificate { return last }
}

// endpoint is the hash of the server's certificate that logins can be bound to (RFC 5929, section
// 4.1). It is empty where none is known, or where the RFC does not say which hash.
func endpoint(c *tls.Certificate) string {
	if c == nil || len(c.Certificate) == 0 {
		return ""
	}
	der := c.Certificate[0]
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return ""
	}
	var h crypto.Hash
	switch leaf.SignatureAlgorithm {
	case x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.SHA256WithRSA, x509.SHA256WithRSAPSS, x509.ECDSAWithSHA256:
		h = crypto.SHA256
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		h = crypto.SHA384
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		h = crypto.SHA512
	default:
		return ""
	}
	sum := h.New()
	sum.Write(der)
	return string(sum.Sum(nil))
}
