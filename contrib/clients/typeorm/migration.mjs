// What "typeorm migration:generate" writes, shortened, with the domain and the trigger.

export class CreateTables1700000000000 {
  async up(runner) {
    const table = (name, id) =>
      runner.query(`CREATE TABLE ${name} (id ${id}, note text, PRIMARY KEY (id))`)
    await table('orders', "uuid NOT NULL DEFAULT idgen.keyed_comb(area => 'orders')")
    await table('drafts', 'uuid NOT NULL DEFAULT idgen.short_comb()')
    await table('events', 'uuid NOT NULL DEFAULT idgen.uuid_v7()')
    await table('visits', 'bigint NOT NULL DEFAULT idgen.snowflake()')
    await table('clicks', 'bigint NOT NULL DEFAULT idgen.js_id()')
    await table('accounts', "account_id NOT NULL DEFAULT idgen.prefixed_id('acct')")
    await runner.query(`
      CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON drafts
      FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=10 minutes')`)
  }

  async down(runner) {
    await runner.query('DROP TABLE orders, drafts, events, visits, clicks, accounts')
  }
}
