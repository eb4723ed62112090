class CreateTables < ActiveRecord::Migration[7.2]
  def change
    enable_extension 'idgen'
    create_table :orders, id: :uuid, default: -> { "idgen.keyed_comb('orders')" } do |t|
      t.timestamptz :created_at, null: false, default: -> { 'now()' }
      t.text :note, null: false
      t.index %i[created_at id] # for lists
    end
    # The application generates the key, so there is no default.
    create_table :invoices, id: :uuid, default: nil do |t|
      t.references :order, type: :uuid, null: false, foreign_key: true
    end
    # This requires EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant. Since schema.rb does not
    # contain triggers, set config.active_record.schema_format = :sql.
    up_only { execute <<~SQL }
      CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
      FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices')
    SQL
  end
end
