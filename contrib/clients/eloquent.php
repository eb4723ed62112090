<?php
// Laravel's Eloquent 8, on PDO, outside of Laravel. The driver's error is the exception's errorInfo.
require 'Illuminate/Database/autoload.php';
require __DIR__ . '/short_comb.php';

use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\QueryException;
use Illuminate\Database\Schema\Blueprint;

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
$db = $manager->getConnection();

/** "Incrementing" means that the database makes the key: it is read back with RETURNING. With false, it stays NULL. */
abstract class Row extends Model
{
    public $incrementing = true;
    public $timestamps = false;
    protected $guarded = [];
}

abstract class TextKey extends Row
{
    protected $keyType = 'string';
}

class Order extends TextKey
{
}

class Draft extends TextKey
{
}

class Event extends TextKey
{
}

class Account extends TextKey
{
}

class Visit extends Row
{
}

class Click extends Row
{
}

/** Creates an order once, however often the command is sent. */
function create_order(string $command_id, string $note): object
{
    global $db;
    return $db->transaction(function () use ($db, $command_id, $note) {
        // not select(), which may ask a replica
        $creation = $db->selectFromWriteConnection(
            "SELECT entity_id, created
             FROM idgen.create_once(?, idgen.keyed_comb(area => 'orders'), 'create order', ?)",
            [$command_id, json_encode(['note' => $note])]
        )[0];
        if ($creation->created) {
            Order::create(['id' => $creation->entity_id, 'note' => $note]);
        }
        return $creation;
    });
}

/** The command id is made once, and is the same in every retry. A lost connection has the SQLSTATE HY000 or 08006. */
function create_order_until_answered(string $command_id, string $note): object
{
    global $db;
    for (;; usleep(100_000)) {
        try {
            return create_order($command_id, $note);
        } catch (PDOException $e) {
            if (preg_match('/^(08|40|57P|HY)/', $e->errorInfo[0] ?? '08') === 0) {
                throw $e;
            }
            $db->disconnect();      // the next statement connects
        }
    }
}

// With the argument "orders": an order for each command id that it reads.
if (($argv[1] ?? '') === 'orders') {
    while (($id = fgets(STDIN)) !== false) {
        echo create_order_until_answered(trim($id), trim($id))->entity_id, "\n";
    }
    exit;
}

$tasks = [];

$tasks['generator'] = function () {
    $answers = file('short_comb_vectors.csv', FILE_IGNORE_NEW_LINES) ?: throw new LogicException('no short_comb_vectors.csv');
    foreach (array_slice($answers, 1) as $line) {
        [$period, $bytes, $ms, $random, $expected] = explode(',', $line);
        $id = short_comb((int) $ms, hex2bin($random), (int) $period, (int) $bytes);
        check($id === $expected, "$id in place of $expected");
    }
};

$tasks['default key'] = function () use ($db) {
    $order = Order::create(['note' => 'one']);
    check(Order::findOrFail($order->id)->note === 'one', "no row $order->id");
    $order = new Order(['note' => 'not read back']);
    $order->incrementing = false;
    check($order->save() && $order->id === null, 'without $incrementing, the key was read back');

    // in a migration
    $db->unprepared('DROP SCHEMA IF EXISTS laravel CASCADE; CREATE SCHEMA laravel');
    $db->getSchemaBuilder()->create('laravel.tasks', function (Blueprint $table) use ($db) {
        $table->uuid('id')->primary()->default($db->raw("idgen.keyed_comb(area => 'tasks')"));
        $table->text('note')->nullable();
    });
    check(strlen($db->table('laravel.tasks')->insertGetId(['note' => 'two'])) === 36, 'no key');
};

$tasks['client key'] = function () {
    Draft::create(['id' => short_comb(), 'note' => 'two']);
    $old = short_comb((time() - 86400) * 1000);
    refused('23514', 'outside the accepted time window', fn () => Draft::create(['id' => $old, 'note' => 'three']));
};

$tasks['create once'] = function () use ($db) {
    $command_id = $db->selectOne('SELECT gen_random_uuid() AS id')->id;
    $first = create_order($command_id, 'four');
    $retried = create_order($command_id, 'four');
    check($first->created && !$retried->created, 'created at the wrong call');
    check($first->entity_id === $retried->entity_id, 'two ids');
    check(Order::findOrFail($first->entity_id)->note === 'four', 'no order of the command');
    refused('23514', 'already used for a different command', fn () => create_order($command_id, 'five'));
};

$tasks['bigint keys'] = function () use ($db) {
    foreach ([Visit::class, Click::class] as $model) {
        $id = $model::create(['note' => 'six'])->id;      // an int, of 64 bits
        $digits = $model::where('id', $id)->selectRaw('id::text AS digits')->value('digits');
        check(is_int($id) && "$id" === $digits, "$model: $id");
    }
    $beyond_double = 2 ** 53 + 1;
    Visit::destroy($beyond_double);
    check(Visit::create(['id' => $beyond_double])->id === $beyond_double, '2^53 + 1');
};

$tasks['prefixed id'] = function () {
    $id = Account::create(['note' => 'seven'])->id;
    check(preg_match('/^acct_[0-9a-z]{25}$/', $id) === 1 && Account::findOrFail($id)->note === 'seven', $id);
    refused('23514', 'prefixed_id_check', fn () => Account::create(['id' => str_replace('acct', 'order', $id)]));
};

$tasks['range of time'] = function () {
    $id = Event::create(['note' => 'eight'])->id;
    $within = fn (string $start, string $stop) => Event::whereKey($id)
        ->whereRaw('idgen.uuid_v7_within(id, ?, ?)', [(new DateTime($start))->format(DATE_ATOM), (new DateTime($stop))->format(DATE_ATOM)])
        ->exists();
    check($within('-1 hour', '+1 hour') && !$within('+1 hour', '+2 hours'), $id);
};

function check(bool $holds, string $message): void
{
    $holds or throw new LogicException($message);
}

/** PDO does not report the name of a violated constraint, so the message distinguishes violations of one SQLSTATE. */
function refused(string $sqlstate, string $message, callable $statement): void
{
    try {
        $statement();
    } catch (QueryException $e) {
        check($e->errorInfo[0] === $sqlstate && str_contains($e->getMessage(), $message), $e->getMessage());
        return;
    }
    throw new LogicException('accepted');
}

$failed = false;
foreach ($tasks as $name => $task) {
    try {
        $task();
        echo "ok eloquent: $name\n";
    } catch (Throwable $e) {
        echo "not ok eloquent: $name: ", strtr($e->getMessage(), "\n", ' '), "\n";
        $failed = true;
    }
}
exit($failed ? 1 : 0);
