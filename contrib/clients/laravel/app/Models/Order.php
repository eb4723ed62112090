<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;
use Illuminate\Support\Collection;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Str;

/** The server generates the key: $incrementing stays true, so that it is read back. */
class Order extends Model
{
    public $timestamps = false;
    protected $keyType = 'string';
    protected $fillable = ['id', 'note'];

    /** The newest orders, from the first or after the last order of the previous page */
    public static function after(?self $last = null, int $limit = 20): Collection
    {
        $position = [$last->created_at ?? 'infinity', $last->id ?? str_repeat('f', 32)];
        return self::whereRaw('(created_at, id) < (?, ?)', $position)
            ->orderByDesc('created_at')->orderByDesc('id')->limit($limit)->get();
    }

    /** The client makes the command id once, and repeats it. */
    public static function newCommand(): string
    {
        return (string) Str::uuid7();
    }

    public static function createOnce(string $command, string $note): self
    {
        return DB::transaction(function () use ($command, $note) {
            // not select(), which may ask a replica
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

    /** One INSERT for all, which returns the keys; insert() does not. */
    public static function createMany(array $notes): array
    {
        $insert = 'INSERT INTO orders (note) SELECT jsonb_array_elements_text(?) RETURNING id';
        return array_column(DB::selectFromWriteConnection($insert, [json_encode($notes)]), 'id');
    }
}
