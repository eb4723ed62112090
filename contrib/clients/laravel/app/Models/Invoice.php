<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Concerns\HasUuids;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Support\Facades\Config;

/** The application generates the key in create() and fillAndInsert() (for several rows), but not in insert(). */
class Invoice extends Model
{
    use HasUuids;

    public $timestamps = false;
    protected $fillable = ['id', 'order_id'];

    public function newUniqueId(): string
    {
        return hmac_comb(hex2bin(Config::get('app.id_key')), 'invoices');
    }

    /** The client generates the key, and sends the same key in every retry. */
    public static function createAgain(string $id, string $orderId): self
    {
        return self::createOrFirst(['id' => $id], ['order_id' => $orderId]);
    }
}
