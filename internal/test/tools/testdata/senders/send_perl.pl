# DBI with DBD::Pg, and DBIx::Class with a schema that its loader makes.
use strict;
use warnings;
use DBI;
use DBD::Pg ':pg_types';
use DBIx::Class;
use DBIx::Class::Schema::Loader 'make_schema_at';

$| = 1;
print "tool DBD::Pg $DBD::Pg::VERSION, DBIx::Class $DBIx::Class::VERSION, DBIx::Class::Schema::Loader $DBIx::Class::Schema::Loader::VERSION\n";
my @source = ("dbi:Pg:dbname=$ENV{PGDATABASE};host=$ENV{PGHOST};port=$ENV{PGPORT}", $ENV{PGUSER}, $ENV{PGPASSWORD}, { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
my ($db, $schema);

sub step {
    my ($name, $do) = @_;
    open my $f, '>', $ENV{DISCREET_STEP} or die;
    print $f $name;
    close $f;
    if (eval { $do->(); 1 }) { print "ok $name\n" }
    else { my $why = substr(join(' ', split ' ', "$@"), 0, 300); print "no $name | $why\n" }
}
sub all { my $s = shift; $s ? $s->fetchall_arrayref : [] }

step 'connect', sub { $db = DBI->connect(@source) };
if ($db) {
    step 'tables', sub { $db->tables(undef, 'public', '%', 'TABLE'); all($db->table_info('', 'public', '%', 'TABLE,VIEW')) };
    step 'columns', sub { all($db->column_info('', 'public', 'visits', '%')) };
    step 'keys', sub { all($db->primary_key_info('', 'public', 'patients')); all($db->foreign_key_info('', 'public', 'patients', '', 'public', 'visits')); $db->primary_key('', 'public', 'patients') };
    step 'statistics', sub { all($db->statistics_info('', 'public', 'patients', 0, 0)) };
    step 'types', sub { $db->type_info_all; $db->get_info(18); $db->{pg_server_version} };
    step 'first rows', sub { $db->selectall_arrayref('SELECT * FROM patients LIMIT 10') };
    step 'count', sub { $db->selectrow_array('SELECT COUNT(*) FROM patients') };
    step 'group', sub { $db->selectall_hashref('SELECT diagnosis, COUNT(*) AS n, AVG(age) FROM patients GROUP BY diagnosis', 'diagnosis') };
    step 'parameters', sub { $db->selectrow_array('SELECT COUNT(*) FROM patients WHERE age > ? AND sex = ?', {}, 40, 'F') };
    step 'array', sub { $db->selectall_arrayref('SELECT diagnosis, COUNT(*) FROM patients WHERE diagnosis = ANY(?) GROUP BY diagnosis', {}, ['flu', 'asthma']) };
    step 'meta', sub { my $s = $db->prepare('SELECT ward, SUM(cost) FROM visits GROUP BY ward'); $s->execute; $s->{pg_type}; $s->{TYPE}; all($s) };
    step 'copy', sub { $db->do('COPY (SELECT sex, COUNT(*) FROM patients GROUP BY sex) TO STDOUT'); my $line = ''; 1 while $db->pg_getcopydata($line) >= 0 };
    step 'ping', sub { $db->ping or die 'no ping' };
    step 'write', sub { $db->do("UPDATE wards SET beds = 0") };
    step 'load schema', sub { make_schema_at('Hospital', { naming => 'v8', quiet => 1, preserve_case => 1 }, [@source]) };
    step 'class: connect', sub { $schema = Hospital->connect(@source) };
}
if ($schema) {
    my $of = sub { my ($name) = grep { lc($schema->source($_)->name =~ s/\W//gr) =~ /$_[0]$/ } $schema->sources; $schema->resultset($name) };
    step 'class: first rows', sub { $of->('patients')->search({}, { rows => 10 })->all };
    step 'class: one person', sub { $of->('patients')->find(37) };
    step 'class: count', sub { $of->('patients')->count };
    step 'class: count where', sub { $of->('patients')->search({ age => { '>' => 40 }, diagnosis => [qw(flu asthma)] })->count };
    step 'class: sum', sub { $of->('visits')->get_column('cost')->sum };
    step 'class: group', sub { $of->('patients')->search({}, { select => ['diagnosis', { count => '*', -as => 'n' }], as => [qw(d n)], group_by => 'diagnosis', order_by => { -desc => 'n' } })->all };
    step 'class: distinct', sub { $of->('visits')->search({}, { columns => ['ward'], distinct => 1 })->all };
    step 'class: public table', sub { $of->('wards')->search({}, { order_by => 'ward' })->all };
    step 'class: page', sub { $of->('wards')->search({}, { order_by => 'ward', rows => 2, page => 1 })->all };
    step 'class: write', sub { $of->('wards')->create({ ward => 'new', building => 'east', beds => 1 }) };
}
