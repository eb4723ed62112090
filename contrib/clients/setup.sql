-- The tables that the programs in this folder use. Run it once with psql, as a
-- superuser, in an empty database; the programs then connect as the role app.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS idgen;
-- different on every server that makes identifiers for the same tables
SELECT format('ALTER DATABASE %I SET idgen.node_id = 1', current_database()) \gexec

SELECT 'CREATE ROLE app LOGIN' WHERE to_regrole('app') IS NULL \gexec
ALTER ROLE app CREATEDB;        -- activerecord, whose schema it loads into a new database
SELECT format('GRANT CREATE ON DATABASE %I TO app', current_database()) \gexec
GRANT CREATE ON SCHEMA public TO app;
GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;              -- create_once
GRANT SELECT, INSERT, DELETE ON idgen.id_prefixes TO app;               -- create_id_domain

SET ROLE app;

-- The database makes the key.
CREATE TABLE orders (
    id uuid PRIMARY KEY DEFAULT idgen.keyed_comb(area => 'orders'),
    note text
);

-- The database or the client makes the key. A key that a client sends must be
-- of the last or next 10 minutes; the name of the violated constraint is the
-- trigger's, drafts_id_is_recent.
CREATE TABLE drafts (
    id uuid PRIMARY KEY DEFAULT idgen.short_comb(),
    note text
);
CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON drafts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=10 minutes');

-- Time-ordered keys, for ranges of time by the key.
CREATE TABLE events (
    id uuid PRIMARY KEY DEFAULT idgen.uuid_v7(),
    note text
);

-- 63 bits: more than the integers that a double holds exactly.
CREATE TABLE visits (
    id bigint PRIMARY KEY DEFAULT idgen.snowflake(),
    note text
);

-- 53 bits: a safe integer in JavaScript.
CREATE TABLE clicks (
    id bigint PRIMARY KEY DEFAULT idgen.js_id(),
    note text
);

-- Text that contains its type: acct_01jd3v... The violated constraint of another
-- text is prefixed_id_check.
SELECT idgen.create_id_domain('account_id', 'acct');
CREATE TABLE accounts (
    id account_id PRIMARY KEY DEFAULT idgen.prefixed_id('acct'),
    note text
);

RESET ROLE;
