<?php

// PDO: run each statement of a file, see contrib/clients/t/002_parameters.pl
$db = new PDO(sprintf('pgsql:host=%s;port=%s;dbname=%s;user=%s', getenv('PGHOST'), getenv('PGPORT'), getenv('PGDATABASE'), getenv('PGUSER')));
$db->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
$db->beginTransaction();
foreach (file($argv[1], FILE_IGNORE_NEW_LINES) as $line) {
    [$name, , $args, $sql] = explode("\t", $line);
    $db->exec('SAVEPOINT before');
    try {
        $statement = $db->prepare(preg_replace('/\$(\d+)/', ':p$1', $sql));
        foreach ($args === '' ? [] : explode('|', $args) as $i => $arg) {
            $statement->bindValue(':p' . ($i + 1), $arg);
        }
        $statement->execute();
        echo "ok $name\n";
    } catch (PDOException $error) {
        echo $error->errorInfo[0], " $name\n";
        fwrite(STDERR, $error->getMessage() . "\n");
        $db->exec('ROLLBACK TO before');
    }
}
