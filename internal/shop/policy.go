package shop

// ShopPolicy is the owner's file for a shop, beside its data. Names of customers are not in it, so they
// do not exist for analysts. Bounds and keys are those of the makers of this package and not read
// off the data.
const ShopPolicy = `# A made-up wholesaler. The unit is the customer, with all orders and items.
datasets:
  shop:
    engine: duckdb
    source: .
    unit: customers.cid
    budget: {epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1}}
    analysts: {ana: {share: 1}, ben: {share: 0.5}}
    tables:
      customers:
        unique: cid
        columns:
          cid:     {type: integer, nullable: false}
          segment: {type: text, nullable: false, keys: [AUTOMOBILE, BUILDING, FURNITURE, HOUSEHOLD, MACHINERY]}
          nation:
            type: text
            nullable: false
            keys: [ALGERIA, ARGENTINA, BRAZIL, CANADA, CHINA, EGYPT, ETHIOPIA, FRANCE, GERMANY, INDIA, INDONESIA, IRAN, IRAQ,
              JAPAN, JORDAN, KENYA, MOROCCO, MOZAMBIQUE, PERU, ROMANIA, RUSSIA, SAUDI ARABIA, UNITED KINGDOM, UNITED STATES, VIETNAM]
      orders:
        path: cid -> customers.cid
        max_rows: 20
        max_groups: 5
        columns:
          oid:      {type: integer, nullable: false}
          cid:      {type: integer, nullable: false}
          day:      {type: date, nullable: false, bounds: [1992-01-01, 1998-12-31]}
          priority: {type: text, nullable: false, keys: [1-URGENT, 2-HIGH, 3-MEDIUM, 4-LOW, 5-NONE]}
          status:   {type: text, nullable: false, keys: [F, O, P]}
      items:
        path: oid -> orders.oid
        max_rows: 80
        max_groups: 5
        columns:
          oid:         {type: integer, nullable: false}
          line:        {type: integer, nullable: false, bounds: [1, 7]}
          part:        {type: integer, nullable: false}
          quantity:    {type: integer, nullable: false, bounds: [1, 50]}
          price:       {type: decimal, nullable: false, bounds: [0, 110000], granularity: 0.01}
          discount:    {type: decimal, nullable: false, bounds: [0, 0.1], granularity: 0.01}
          ship_day:    {type: date, nullable: false, bounds: [1992-01-01, 1999-12-31]}
          return_flag: {type: text, nullable: false, keys: [A, N, R]}
      nations:
        public: true
        unique: nation
        columns:
          nation: {type: text, nullable: false}
          region: {type: text, nullable: false}
      parts:
        public: true
        unique: part
        columns:
          part:         {type: integer, nullable: false}
          brand:        {type: text, nullable: false}
          type:         {type: text, nullable: false}
          retail_price: {type: decimal, nullable: false, bounds: [900, 2100], granularity: 0.01}
    views:
      sales: "SELECT i.ship_day, i.return_flag, i.quantity, i.price, i.discount, o.priority, o.status FROM items i JOIN orders o ON i.oid = o.oid"
`
