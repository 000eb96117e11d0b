package pgwire

import (
	"crypto"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/tls"
	"crypto/x509"
)

// endpoint is the hash of the server's certificate that logins can be bound to (RFC 5929, section
// 4.1). It is empty where the handshake may have chosen among several, or where the RFC does not
// say which hash.
func endpoint(c *tls.Config) string {
	if c == nil || len(c.Certificates) != 1 || c.GetCertificate != nil || c.GetConfigForClient != nil ||
		len(c.Certificates[0].Certificate) == 0 {
		return ""
	}
	der := c.Certificates[0].Certificate[0]
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
