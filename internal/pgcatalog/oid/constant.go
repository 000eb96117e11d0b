package oid

// OIDs of types, as in PostgreSQL's pg_type.
const (
	Bool          = 16
	Char          = 18 // "char", one byte
	Name          = 19
	Int8          = 20
	Int2          = 21
	Int2Vector    = 22
	Int4          = 23
	Regproc       = 24
	Text          = 25
	Oid           = 26
	Xid           = 28
	Cid           = 29
	OidVector     = 30
	JSON          = 114
	JSONB         = 3802
	NodeTree      = 194
	Float4        = 700
	Float8        = 701
	Unknown       = 705
	CharArray     = 1002
	NameArray     = 1003
	Int2Array     = 1005
	TextArray     = 1009
	OidArray      = 1028
	Bpchar        = 1042
	Varchar       = 1043
	Date          = 1082
	Time          = 1083
	Timestamp     = 1114
	Timestamptz   = 1184
	Timetz        = 1266
	Interval      = 1186
	Bit           = 1560
	Varbit        = 1562
	Numeric       = 1700
	Regprocedure  = 2202
	Regoper       = 2203
	Regoperator   = 2204
	Regclass      = 2205
	Regtype       = 2206
	Record        = 2249
	RecordArray   = 2287
	Any           = 2276
	AnyElement    = 2283
	VarcharArray  = 1015
	AnyArray      = 2277
	Regconfig     = 3734
	Regdictionary = 3769
	Regnamespace  = 4089
	Regrole       = 4096
	Regcollation  = 4191
	Xid8          = 5069
)

// OIDs of the schemas that there are.
const (
	CatalogSchema     = 11
	PublicSchema      = 2200
	InformationSchema = 13207
)

// Schema is the OID of a schema, or 0.
func Schema(name string) uint32 {
	switch name {
	case "pg_catalog":
		return CatalogSchema
	case "information_schema":
		return InformationSchema
	case "public":
		return PublicSchema
	}
	return 0
}

// SchemaName is the name of a schema that there is.
func SchemaName(schema uint32) string {
	switch schema {
	case CatalogSchema:
		return "pg_catalog"
	case InformationSchema:
		return "information_schema"
	}
	return "public"
}
