// No idgen in schemaFilter: its tables are the extension's.
export default { dialect: 'postgresql', schema: './drizzle/schema.mjs', out: './drizzle/migrations' }
