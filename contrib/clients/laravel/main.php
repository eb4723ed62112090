<?php
// Answers the commands of programs.txt by the template of this folder, outside of Laravel.
require 'Illuminate/Database/autoload.php';
require __DIR__ . '/../generators/combs.php';
foreach (['Customer', 'Order', 'InvoiceLine', 'Invoice'] as $model) {
    require __DIR__ . "/app/Models/$model.php";
}

use App\Models\Customer;
use App\Models\Invoice;
use App\Models\Order;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Facade;

$manager = new Manager();
$manager->addConnection([
    'driver' => 'pgsql',
    'host' => getenv('PGHOST'),
    'port' => getenv('PGPORT'),
    'username' => getenv('PGUSER'),
    'password' => '',
    'database' => getenv('PGDATABASE'),
    'charset' => 'utf8',
]);
$manager->bootEloquent();
$app = $manager->getContainer();
$app->instance('db', $manager->getDatabaseManager());
$app->bind('db.schema', fn () => $manager->getConnection()->getSchemaBuilder());
$app['config']['app'] = ['id_key' => getenv('ID_KEY')];
Facade::setFacadeApplication($app);

$commands = [
    'migrate' => function () {
        (require __DIR__ . '/database/migrations/2026_11_27_000001_create_tables.php')->up();
        return [];
    },
    'insert' => fn ($note) => [Order::create(['note' => $note])->id],
    'parent_and_child' => fn ($note) => DB::transaction(function () use ($note) {
        $customer = Customer::create(['name' => 'a customer']);
        return [$customer->id, Order::create(['customer_id' => $customer->id, 'note' => $note])->id];
    }),
    'bulk' => fn ($note, $number) => Order::createMany(array_fill(0, (int) $number, $note)),
    'create_once' => function ($command, $note) {
        $order = Order::createOnce($command, $note);
        return [$order->id, $order->note];
    },
    'graph' => fn ($note) => DB::transaction(function () use ($note) {
        $invoice = Invoice::create(['note' => $note]);
        $lines = $invoice->lines()->createMany([['note' => 'a line'], ['note' => 'another line']]);
        return [$invoice->id, ...$lines->modelKeys()];
    }),
    'bulk_with_keys' => function ($note, $number) {
        $rows = array_map(fn () => ['id' => (new Invoice())->newUniqueId(), 'note' => $note], range(1, (int) $number));
        Invoice::insert($rows);
        return array_column($rows, 'id');
    },
    'insert_with_key' => fn ($id, $note) => [Invoice::createAgain($id, $note)->id],
];

while (($line = fgets(STDIN)) !== false) {
    $words = explode("\t", rtrim($line, "\n"));
    try {
        $answer = ['ok', ...$commands[array_shift($words)](...$words)];
    } catch (PDOException $e) {
        // PDO has no field for the constraint, and HY000 is its own state for a lost connection
        $state = str_replace('HY000', '', $e->errorInfo[0] ?? '');
        $answer = ['error', $state, '', preg_replace('/\s+/', ' ', $e->getMessage())];
        DB::disconnect();    // the next statement connects
    }
    echo implode("\t", $answer), "\n";
}
