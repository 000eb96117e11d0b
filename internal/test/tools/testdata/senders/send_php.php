<?php
// Doctrine: its schema manager, its query builder, entities; and PDO, which is below it.
foreach (["Doctrine/DBAL/autoload.php", "Doctrine/ORM/autoload.php"] as $f) {
    if (stream_resolve_include_path($f)) require_once $f;
}

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;

echo "tool PHP " . PHP_VERSION . ", Doctrine ORM 2.14, DBAL 3\n";

function step(string $name, callable $do): void {
    file_put_contents(getenv("DISCREET_STEP"), $name);
    try {
        $do();
        echo "ok $name\n";
    } catch (\Throwable $e) {
        echo "no $name | " . get_class($e) . ": " . substr(preg_replace('/\s+/', ' ', $e->getMessage()), 0, 300) . "\n";
    }
}

#[ORM\Entity] #[ORM\Table(name: "patients")]
class Patient {
    #[ORM\Id, ORM\Column(type: "bigint")] public $pid;
    #[ORM\Column(type: "bigint")] public $age;
    #[ORM\Column(type: "text")] public $sex;
    #[ORM\Column(type: "text")] public $diagnosis;
    #[ORM\Column(type: "boolean")] public $smoker;
    #[ORM\Column(type: "decimal", precision: 10, scale: 2)] public $cost;
}
#[ORM\Entity] #[ORM\Table(name: "wards")]
class Ward {
    #[ORM\Id, ORM\Column(type: "text")] public $ward;
    #[ORM\Column(type: "text")] public $building;
    #[ORM\Column(type: "bigint")] public $beds;
}

[$host, $port, $user, $password, $name] = array_map('getenv', ["PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"]);
$pdo = null;
step("pdo: connect", function () use (&$pdo, $host, $port, $name, $user, $password) {
    $pdo = new PDO("pgsql:host=$host;port=$port;dbname=$name", $user, $password, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
});
if ($pdo) {
    step("pdo: group", fn() => $pdo->query("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis")->fetchAll());
    step("pdo: parameters", function () use ($pdo) {
        $s = $pdo->prepare("SELECT COUNT(*), AVG(age) FROM patients WHERE age > :a AND sex = :s");
        $s->execute(["a" => 40, "s" => "F"]);
        $s->fetchAll();
        $s->getColumnMeta(1);
    });
    step("pdo: first rows", fn() => $pdo->query("SELECT * FROM patients LIMIT 10")->fetchAll());
}
$db = DriverManager::getConnection(["driver" => "pdo_pgsql", "host" => $host, "port" => (int)$port, "dbname" => $name, "user" => $user, "password" => $password]);
$look = $db->createSchemaManager();
step("dbal: tables", fn() => [$look->listTableNames(), $look->listDatabases(), $look->listSchemaNames(), $look->listViews(), $look->listSequences()]);
step("dbal: details", fn() => [$look->listTableColumns("patients"), $look->listTableIndexes("patients"), $look->listTableForeignKeys("visits")]);
step("dbal: introspect", fn() => $look->introspectSchema());
$builder = fn() => $db->createQueryBuilder();
step("dbal: count", fn() => $builder()->select("COUNT(*)")->from("patients")->where("age > :a")->setParameter("a", 40)->fetchOne());
step("dbal: group", fn() => $builder()->select("diagnosis", "COUNT(*) n", "AVG(age) a")->from("patients")->groupBy("diagnosis")->orderBy("n", "DESC")->fetchAllAssociative());
step("dbal: in", fn() => $db->fetchOne("SELECT COUNT(*) FROM patients WHERE diagnosis IN (?)", [["flu", "asthma"]], [Doctrine\DBAL\ArrayParameterType::STRING]));
step("dbal: join", fn() => $builder()->select("p.sex", "SUM(v.cost)")->from("patients", "p")->innerJoin("p", "visits", "v", "v.pid = p.pid")->groupBy("p.sex")->fetchAllKeyValue());
step("dbal: page", fn() => $builder()->select("diagnosis", "COUNT(*)")->from("patients")->groupBy("diagnosis")->orderBy("diagnosis")->setMaxResults(2)->setFirstResult(2)->fetchAllAssociative());
$mapping = new Doctrine\ORM\Configuration();
$mapping->setMetadataDriverImpl(new Doctrine\ORM\Mapping\Driver\AttributeDriver([__DIR__]));
$mapping->setProxyDir(sys_get_temp_dir());
$mapping->setProxyNamespace("Proxies");
$orm = new EntityManager($db, $mapping);
$dql = fn($text) => $orm->createQuery($text);
step("orm: first rows", fn() => $orm->getRepository(Patient::class)->findBy([], null, 10));
step("orm: one person", fn() => $orm->find(Patient::class, 37));
step("orm: count", fn() => $orm->getRepository(Patient::class)->count(["sex" => "F"]));
step("orm: group", fn() => $dql("SELECT p.diagnosis, COUNT(p) n, AVG(p.age) a FROM Patient p GROUP BY p.diagnosis ORDER BY n DESC")->getArrayResult());
step("orm: scalar", fn() => $dql("SELECT SUM(p.cost) FROM Patient p WHERE p.age BETWEEN 20 AND 40")->getSingleScalarResult());
step("orm: case", fn() => $dql("SELECT COUNT(CASE WHEN p.smoker = true THEN p.pid ELSE NULLIF(1, 1) END) FROM Patient p")->getSingleScalarResult());
step("orm: distinct", fn() => $dql("SELECT COUNT(DISTINCT p.diagnosis) FROM Patient p")->getSingleScalarResult());
step("orm: public table", fn() => $orm->getRepository(Ward::class)->findBy([], ["ward" => "ASC"]));
step("orm: public one", fn() => $orm->find(Ward::class, "surgery"));
step("orm: validate", fn() => (new Doctrine\ORM\Tools\SchemaTool($orm))->getUpdateSchemaSql($orm->getMetadataFactory()->getAllMetadata()));
step("orm: write", function () use ($orm) { $w = new Ward(); $w->ward = "new"; $w->building = "east"; $w->beds = 1; $orm->persist($w); $orm->flush(); });
