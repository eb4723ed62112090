// schemaFilter does not contain idgen, because the extension creates the tables in that schema.
export default { dialect: 'postgresql', schema: './drizzle/schema.mjs', out: './drizzle/migrations' }
