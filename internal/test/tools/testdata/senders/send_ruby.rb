# ActiveRecord and Sequel: schemas, models, aggregates, probes of existence.
require "active_record"
require "sequel"
require "pg"

puts "tool activerecord #{ActiveRecord::VERSION::STRING}, sequel #{Sequel.version}, pg #{PG::VERSION}"
$stdout.sync = true

def step(name)
  File.write(ENV["DISCREET_STEP"], name)
  yield
  puts "ok #{name}"
rescue StandardError => e
  puts "no #{name} | #{e.class}: #{e.message.split.join(" ")[0, 300]}"
end

class Patient < ActiveRecord::Base
  self.table_name = "patients"
end
class Visit < ActiveRecord::Base
  self.table_name = "visits"
end
class Ward < ActiveRecord::Base
  self.table_name = "wards"
  self.primary_key = "ward"
end

step("rails: connect") do
  ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i, username: ENV["PGUSER"], password: ENV["PGPASSWORD"], database: ENV["PGDATABASE"])
  ActiveRecord::Base.connection.execute("SELECT 1")
end
db = ActiveRecord::Base.connection
step("rails: schema") { [db.tables, db.views, db.columns("patients"), db.primary_key("patients"), db.indexes("visits"), db.foreign_keys("visits"), db.table_exists?("x"), db.extensions, db.table_comment("patients")] }
step("rails: dump") { require "stringio"; ActiveRecord::SchemaDumper.dump(db, StringIO.new) }
step("rails: first") { Patient.first }
step("rails: find") { Patient.find(37) }
step("rails: exists") { Patient.where("age > ?", 40).exists? }
step("rails: any") { Patient.any? }
step("rails: count") { Patient.count }
step("rails: count where") { Patient.where(sex: %w[F M]).where.not(diagnosis: "flu").count }
step("rails: range") { Visit.where(day: Date.new(2025, 3, 1)..Date.new(2025, 5, 31)).count }
step("rails: open range") { Patient.where(age: 40..).count }
step("rails: sum") { Visit.sum(:cost) }
step("rails: average") { Patient.average(:age) }
step("rails: largest") { [Patient.maximum(:age), Patient.minimum(:age)] }
step("rails: group") { Patient.group(:diagnosis).count }
step("rails: group sum") { Visit.group(:ward).order(:ward).sum(:cost) }
step("rails: group two") { Patient.group(:sex, :smoker).average(:age) }
step("rails: having") { Patient.group(:diagnosis).having("COUNT(*) > 5").count }
step("rails: distinct count") { Visit.distinct.count(:pid) }
step("rails: by month") { Visit.group("date_trunc('month', arrived)").count }
step("rails: pluck") { Visit.distinct.pluck(:ward) }
step("rails: calculation") { Patient.pick(Arel.sql("AVG(cost)")) }
step("rails: join") { Patient.joins("JOIN visits ON visits.pid = patients.pid").group(:sex).count }
step("rails: public table") { Ward.order(:ward).to_a }
step("rails: public find") { Ward.find("surgery") }
step("rails: public exists") { Ward.exists?("surgery") }
step("rails: explain") { Patient.where(sex: "F").explain }
step("rails: write") { Ward.create!(ward: "new", building: "east", beds: 1) }
step("rails: lock") { db.get_advisory_lock(42) && db.release_advisory_lock(42) }

sequel = nil
step("sequel: connect") { sequel = Sequel.connect(adapter: "postgres", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i, user: ENV["PGUSER"], password: ENV["PGPASSWORD"], database: ENV["PGDATABASE"], test: true) }
if sequel
  step("sequel: schema") { [sequel.tables, sequel.views, sequel.schema(:patients), sequel.indexes(:patients), sequel.foreign_key_list(:visits), sequel.primary_key(:patients), sequel.server_version] }
  step("sequel: first") { sequel[:patients].first }
  step("sequel: empty") { sequel[:patients].where { age > 40 }.empty? }
  step("sequel: count") { sequel[:patients].count }
  step("sequel: group") { sequel[:patients].group_and_count(:diagnosis).order(Sequel.desc(:count)).all }
  step("sequel: select group") { sequel[:visits].select_group(:ward).select_append { [sum(cost).as(s), avg(cost).as(a)] }.all }
  step("sequel: hash") { sequel[:patients].group(:sex).select_hash(:sex, Sequel.function(:avg, :age).as(:a)) }
  step("sequel: columns") { sequel[:patients].columns }
  step("sequel: get") { sequel[:patients].get { count.function.* } }
  step("sequel: case") { sequel[:patients].select { [count(Sequel.case({ { smoker: true } => :pid }, nil))] }.all }
  step("sequel: ilike") { sequel[:patients].where(Sequel.ilike(:diagnosis, "%a%")).count }
  step("sequel: exists") { sequel[:patients].where(sequel[:visits].where(Sequel[:visits][:pid] => Sequel[:patients][:pid]).exists).count }
  step("sequel: with") { sequel[:t].with(:t, sequel[:patients].group_and_count(:sex)).all }
  step("sequel: page") { sequel[:patients].group_and_count(:diagnosis).order(:diagnosis).limit(2, 2).all }
  step("sequel: public table") { sequel[:wards].order(:ward).all }
  step("sequel: paged each") { sequel[:wards].order(:ward).paged_each { |r| r } }
  step("sequel: write") { sequel[:wards].insert(ward: "newer") }
end
