<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;
use Illuminate\Support\Facades\DB;

/** The server generates the key: $incrementing stays true, so that it is read back. */
class Order extends Model
{
    public $timestamps = false;
    protected $keyType = 'string';
    protected $fillable = ['id', 'note'];

    /** The client generates the command id once, and repeats it. */
    public static function createOnce(string $command, string $note): self
    {
        return DB::transaction(function () use ($command, $note) {
            // not select(), which may ask a replica
            $creation = DB::selectFromWriteConnection(
                "SELECT entity_id, created FROM idgen.create_once(
                     ?, idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', ?::text))",
                [$command, $note]
            )[0];
            if ($creation->created) {
                self::create(['id' => $creation->entity_id, 'note' => $note]);
            }
            return self::findOrFail($creation->entity_id);
        });
    }

    /** One INSERT for all, which returns the keys; insert() does not. */
    public static function createMany(array $notes): array
    {
        $insert = 'INSERT INTO orders (note) SELECT jsonb_array_elements_text(?) RETURNING id';
        return array_column(DB::selectFromWriteConnection($insert, [json_encode($notes)]), 'id');
    }
}
