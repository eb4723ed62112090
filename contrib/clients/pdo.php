<?php
// PHP 8 with PDO (pdo_pgsql)
require __DIR__ . '/short_comb.php';

function connect(): PDO
{
    return new PDO(
        sprintf('pgsql:host=%s;port=%s;dbname=%s', getenv('PGHOST'), getenv('PGPORT'), getenv('PGDATABASE')),
        getenv('PGUSER'),
        null,
        [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]
    );
}

function execute(PDO $db, string $sql, array $parameters = []): PDOStatement
{
    $statement = $db->prepare($sql);
    $statement->execute($parameters);
    return $statement;
}

/** Creates an order once, however often the command is sent. */
function create_order(PDO $db, string $command_id, string $note): array
{
    $db->beginTransaction();
    try {
        $creation = execute(
            $db,
            "SELECT entity_id, created
             FROM idgen.create_once(?, idgen.keyed_comb(area => 'orders'), 'create order', ?)",
            [$command_id, json_encode(['note' => $note])]
        )->fetch();
        if ($creation['created']) {
            execute($db, 'INSERT INTO orders (id, note) VALUES (?, ?)', [$creation['entity_id'], $note]);
        }
        $db->commit();
        return $creation;
    } catch (Throwable $e) {
        $db->rollBack();
        throw $e;
    }
}

/** The command id is made once, and is the same in every retry. A lost connection has the SQLSTATE HY000 or 08006. */
function create_order_until_answered(string $command_id, string $note): array
{
    for (;; usleep(100_000)) {
        try {
            return create_order(connect(), $command_id, $note);
        } catch (PDOException $e) {
            if (preg_match('/^(08|40|57P|HY)/', $e->errorInfo[0] ?? '08') === 0) {
                throw $e;
            }
        }
    }
}

// With the argument "orders": an order for each command id that it reads.
if (($argv[1] ?? '') === 'orders') {
    while (($id = fgets(STDIN)) !== false) {
        echo create_order_until_answered(trim($id), trim($id))['entity_id'], "\n";
    }
    exit;
}

/** Inserts a row with a key that the database makes, and returns the key. lastInsertId() is for sequences only. */
function insert_note(PDO $db, string $table, string $note): string|int
{
    return execute($db, "INSERT INTO $table (note) VALUES (?) RETURNING id", [$note])->fetchColumn();
}

function note_of_order(PDO $db, string $id): string|false
{
    return execute($db, 'SELECT note FROM orders WHERE id = ?', [$id])->fetchColumn();
}

$db = connect();
$tasks = [];

$tasks['generator'] = function () {
    $answers = file('short_comb_vectors.csv', FILE_IGNORE_NEW_LINES) ?: throw new LogicException('no short_comb_vectors.csv');
    foreach (array_slice($answers, 1) as $line) {
        [$period, $bytes, $ms, $random, $expected] = explode(',', $line);
        foreach ([(int) $ms, $ms + 0.5] as $time) {
            $id = short_comb($time, hex2bin($random), (int) $period, (int) $bytes);
            check($id === $expected, "$id in place of $expected");
        }
    }
    check(short_comb() !== short_comb(), 'two short COMBs are equal');
};

$tasks['default key'] = function () use ($db) {
    $id = insert_note($db, 'orders', 'one');
    check(note_of_order($db, $id) === 'one', "no row $id");
};

$tasks['client key'] = function () use ($db) {
    $sql = 'INSERT INTO drafts (id, note) VALUES (?, ?)';
    execute($db, $sql, [short_comb(), 'two']);
    refused('23514', 'outside the accepted time window', fn () => execute($db, $sql, [short_comb((time() - 86400) * 1000), 'three']));
};

$tasks['create once'] = function () use ($db) {
    $command_id = execute($db, 'SELECT gen_random_uuid()')->fetchColumn();
    $first = create_order($db, $command_id, 'four');
    $retried = create_order($db, $command_id, 'four');
    check($first['created'] && !$retried['created'], 'created at the wrong call');
    check($first['entity_id'] === $retried['entity_id'], 'two ids');
    check(note_of_order($db, $first['entity_id']) === 'four', 'no order of the command');
    refused('23514', 'already used for a different command', fn () => create_order($db, $command_id, 'five'));
};

$tasks['bigint keys'] = function () use ($db) {
    foreach (['visits', 'clicks'] as $table) {
        $id = insert_note($db, $table, 'six');      // an int, of 64 bits
        $digits = execute($db, "SELECT id::text FROM $table WHERE id = ?", [$id])->fetchColumn();
        check(is_int($id) && "$id" === $digits, "$table: $id");
    }
    $beyond_double = 2 ** 53 + 1;
    execute($db, 'DELETE FROM visits WHERE id = ?', [$beyond_double]);
    $id = execute($db, 'INSERT INTO visits (id) VALUES (?) RETURNING id', [$beyond_double])->fetchColumn();
    check($id === $beyond_double, "$id");
};

$tasks['prefixed id'] = function () use ($db) {
    $id = insert_note($db, 'accounts', 'seven');
    check(preg_match('/^acct_[0-9a-z]{25}$/', $id) === 1, $id);
    $other = str_replace('acct', 'order', $id);
    refused('23514', 'prefixed_id_check', fn () => execute($db, 'INSERT INTO accounts (id) VALUES (?)', [$other]));
};

$tasks['range of time'] = function () use ($db) {
    $id = insert_note($db, 'events', 'eight');
    $count = fn (string $start, string $stop) => execute(
        $db,
        'SELECT count(*) FROM events WHERE idgen.uuid_v7_within(id, ?, ?) AND id = ?',
        [(new DateTime($start))->format(DATE_ATOM), (new DateTime($stop))->format(DATE_ATOM), $id]
    )->fetchColumn();
    check($count('-1 hour', '+1 hour') === 1 && $count('+1 hour', '+2 hours') === 0, $id);
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
    } catch (PDOException $e) {
        check($e->getCode() === $sqlstate && str_contains($e->getMessage(), $message), $e->getMessage());
        return;
    }
    throw new LogicException('accepted');
}

$failed = false;
foreach ($tasks as $name => $task) {
    try {
        $task();
        echo "ok pdo: $name\n";
    } catch (Throwable $e) {
        echo "not ok pdo: $name: ", strtr($e->getMessage(), "\n", ' '), "\n";
        $failed = true;
    }
}
exit($failed ? 1 : 0);
