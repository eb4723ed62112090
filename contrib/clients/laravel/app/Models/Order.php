<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;
use Illuminate\Support\Collection;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Str;

/** The server generates the key. $incrementing remains true, so that Laravel reads the key back. */
class Order extends Model
{
    public $timestamps = false;
    protected $keyType = 'string';
    protected $fillable = ['id', 'note'];

    /** Returns the newest orders, or the orders after the last one of the previous page. */
    public static function after(?self $last = null, int $limit = 20): Collection
    {
        $position = [$last->created_at ?? 'infinity', $last->id ?? str_repeat('f', 32)];
        return self::whereRaw('(created_at, id) < (?, ?)', $position)
            ->orderByDesc('created_at')->orderByDesc('id')->limit($limit)->get();
    }

    /** A client calls this method once for each command, and sends the same id in every retry. */
    public static function newCommand(): string
    {
        return (string) Str::uuid7();
    }

    public static function createOnce(string $command, string $note): self
    {
        return DB::transaction(function () use ($command, $note) {
            // Do not use select(), which may query a replica.
            $creation = DB::selectFromWriteConnection(
                "SELECT entity_id, created FROM idgen.create_once(
                     idgen.check_recent_uuid_v7(?, past_tolerance => '1 day', future_tolerance => '10 minutes'),
                     idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', ?::text))",
                [$command, $note]
            )[0];
            if ($creation->created) {
                self::create(['id' => $creation->entity_id, 'note' => $note]);
            }
            return self::findOrFail($creation->entity_id);
        });
    }

    /** Creates all orders in one INSERT, and returns their keys, which insert() does not. */
    public static function createMany(array $notes): array
    {
        $insert = 'INSERT INTO orders (note) SELECT jsonb_array_elements_text(?) RETURNING id';
        return array_column(DB::selectFromWriteConnection($insert, [json_encode($notes)]), 'id');
    }
}
