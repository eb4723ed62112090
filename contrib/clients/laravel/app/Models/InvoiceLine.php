<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Concerns\HasUuids;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Support\Facades\Config;

class InvoiceLine extends Model
{
    use HasUuids;

    public $timestamps = false;
    protected $fillable = ['id', 'note'];

    public function newUniqueId(): string
    {
        return hmac_comb(hex2bin(Config::get('app.id_key')), 'invoice_lines');
    }
}
