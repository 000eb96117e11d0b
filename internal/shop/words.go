package shop

// The words of TPC-H, some of them. The policy lists them too; a test holds both together.
var (
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-LOW", "5-NONE"}
	finishes   = []string{"ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"}
	metals     = []string{"BRASS", "COPPER", "NICKEL", "STEEL", "TIN"}
	nations    = []struct{ name, region string }{
		{"ALGERIA", "AFRICA"}, {"ARGENTINA", "AMERICA"}, {"BRAZIL", "AMERICA"}, {"CANADA", "AMERICA"}, {"CHINA", "ASIA"},
		{"EGYPT", "MIDDLE EAST"}, {"ETHIOPIA", "AFRICA"}, {"FRANCE", "EUROPE"}, {"GERMANY", "EUROPE"}, {"INDIA", "ASIA"},
		{"INDONESIA", "ASIA"}, {"IRAN", "MIDDLE EAST"}, {"IRAQ", "MIDDLE EAST"}, {"JAPAN", "ASIA"}, {"JORDAN", "MIDDLE EAST"},
		{"KENYA", "AFRICA"}, {"MOROCCO", "AFRICA"}, {"MOZAMBIQUE", "AFRICA"}, {"PERU", "AMERICA"}, {"ROMANIA", "EUROPE"},
		{"RUSSIA", "EUROPE"}, {"SAUDI ARABIA", "MIDDLE EAST"}, {"UNITED KINGDOM", "EUROPE"}, {"UNITED STATES", "AMERICA"},
		{"VIETNAM", "ASIA"},
	}
)
