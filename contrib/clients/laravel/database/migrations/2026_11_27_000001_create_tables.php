<?php

use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Schema;

return new class extends Migration
{
    public function up(): void
    {
        DB::statement('CREATE EXTENSION IF NOT EXISTS idgen');
        Schema::create('orders', function (Blueprint $table) {
            $table->uuid('id')->primary()->default(DB::raw("idgen.keyed_comb('orders')"));
            $table->timestampTz('created_at', 3)->useCurrent();
            $table->text('note');
            $table->index(['created_at', 'id']); // for lists
        });
        // The application generates the key.
        Schema::create('invoices', function (Blueprint $table) {
            $table->uuid('id')->primary();
            $table->foreignUuid('order_id')->index()->constrained();
        });
        // This requires EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant.
        DB::statement("CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
            FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices')");
    }
};
