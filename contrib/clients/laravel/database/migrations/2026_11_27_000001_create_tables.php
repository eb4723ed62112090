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
        Schema::create('customers', function (Blueprint $table) {
            $table->uuid('id')->primary()->default(DB::raw("idgen.keyed_comb(area => 'customers')"));
            $table->text('name');
        });
        Schema::create('orders', function (Blueprint $table) {
            $table->uuid('id')->primary()->default(DB::raw("idgen.keyed_comb(area => 'orders')"));
            $table->foreignUuid('customer_id')->nullable()->constrained();
            $table->text('note');
        });
        // the application generates the keys
        Schema::create('invoices', function (Blueprint $table) {
            $table->uuid('id')->primary();
            $table->text('note');
        });
        Schema::create('invoice_lines', function (Blueprint $table) {
            $table->uuid('id')->primary();
            $table->foreignUuid('invoice_id')->constrained();
            $table->text('note');
        });
        // needs EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant
        foreach (['invoices', 'invoice_lines'] as $table) {
            DB::statement("CREATE TRIGGER {$table}_id_is_recent BEFORE INSERT OR UPDATE OF id ON $table
                FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=$table')");
        }
    }
};
