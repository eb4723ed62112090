<?php
// Answer the commands of programs.txt with the template in this folder, without a Laravel application.
require 'Illuminate/Database/autoload.php';
require __DIR__ . '/../generators/combs.php';
require __DIR__ . '/app/Models/Order.php';
require __DIR__ . '/app/Models/Invoice.php';

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
    ...eval('return [' . getenv('POOL_SETTING') . '];'),
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
    'order_with_invoice' => fn ($note) => DB::transaction(function () use ($note) {
        $order = Order::create(['note' => $note]);
        return [$order->id, Invoice::create(['order_id' => $order->id])->id];
    }),
    'bulk' => fn ($note, $number) => Order::createMany(array_fill(0, (int) $number, $note)),
    'pages' => function ($limit) {
        for ($all = []; count($page = Order::after(end($all) ?: null, (int) $limit)) > 0;) {
            array_push($all, ...$page);
        }
        return array_column($all, 'id');
    },
    'new_command' => fn () => [Order::newCommand()],
    'create_once' => function ($command, $note) {
        $order = Order::createOnce($command, $note);
        return [$order->id, $order->note];
    },
    'insert_invoice' => fn ($id, $orderId) => [Invoice::createAgain($id, $orderId)->id],
];

while (($line = fgets(STDIN)) !== false) {
    $words = explode("\t", rtrim($line, "\n"));
    try {
        $answer = ['ok', ...$commands[array_shift($words)](...$words)];
    } catch (PDOException $e) {
        // PDO has no field for the constraint, and reports a lost connection as HY000.
        $state = str_replace('HY000', '', $e->errorInfo[0] ?? '');
        $answer = ['error', $state, '', preg_replace('/\s+/', ' ', $e->getMessage())];
        DB::disconnect();    // the next statement reconnects
    }
    echo implode("\t", $answer), "\n";
}
