-- Domains of prefixed ids, which the portable edition does not have.
\set SHOW_CONTEXT never
--
-- Domains
--
SELECT idgen.create_id_domain('account_id', 'acct'), idgen.create_id_domain('Invoice_ID', 'inv');
CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()),
    note text);
INSERT INTO account (note) VALUES ('default');
INSERT INTO account VALUES ('acct_03e6wlko0bp8e7c9916hklbnd', 'given');
INSERT INTO account VALUES ('inv_03e6wlko0bp8e7c9916hklbnd', 'of another type');
INSERT INTO account VALUES ('acct_03e6wlko0bp8e7c9916hklbn!', 'not decodable');
INSERT INTO account VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'no prefix');
INSERT INTO account VALUES ('acct_1', 'no leading zeros');
INSERT INTO account VALUES ('acct_03E6WLKO0BP8E7C9916HKLBND', 'upper case');
INSERT INTO account VALUES (NULL, 'null');
-- return the fields of the errors
CREATE FUNCTION violation(statement text, OUT state text, OUT message text, OUT detail text, OUT schema text,
    OUT "table" text, OUT type text, OUT "constraint" text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    schema = SCHEMA_NAME, "table" = TABLE_NAME,
        type = PG_DATATYPE_NAME, "constraint" = CONSTRAINT_NAME;
END $$;
\x on
SELECT * FROM violation($$INSERT INTO account VALUES ('inv_03e6wlko0bp8e7c9916hklbnd')$$);
SELECT * FROM violation($$SELECT idgen.create_id_domain('account_id2', 'acct')$$);
\x off
SELECT pg_get_constraintdef(c.oid), collname FROM pg_constraint c JOIN pg_type t ON t.oid = contypid
    JOIN pg_collation l ON l.oid = typcollation
WHERE contypid = 'account_id'::regtype;
SELECT NULL::account_id IS NULL AS domain_takes_null;
SELECT count(*) FROM account;
SELECT * FROM idgen.parse_prefixed_id('acct_03e6wlko0bp8e7c9916hklbnd');
SELECT * FROM idgen.parse_prefixed_id('cust_03e6wlko0bp8e7c9916hklbnd');
SELECT * FROM idgen.parse_prefixed_id('acct_!');
SELECT * FROM idgen.parse_prefixed_id(NULL);

-- a prefix belongs to one domain only, and a name to one type only
SELECT idgen.create_id_domain('account_id2', 'acct');
SELECT to_regtype('account_id2') IS NULL AS not_left_behind;
SET search_path = pg_catalog;
SELECT idgen.create_id_domain('public.account_id2', 'acct');
RESET search_path;
SELECT idgen.create_id_domain('account_id', 'other');
SELECT prefix, domain FROM idgen.id_prefixes ORDER BY prefix;

-- names are quoted and qualified as in CREATE DOMAIN
CREATE SCHEMA "Other";
SELECT idgen.create_id_domain('"Other"."Weird ""Id"""', 'weird');
SELECT idgen.prefixed_id_from_uuid('weird', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f')::"Other"."Weird ""Id""";
SET search_path = "Other", public;
SELECT idgen.create_id_domain('order_id', 'ord');
SELECT idgen.prefixed_id_from_uuid('ord', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f')::"Other".order_id;
RESET search_path;
SELECT idgen.create_id_domain('nowhere.order_id', 'nowhere');
SELECT idgen.create_id_domain('x.y.z.order_id', 'nowhere');
SELECT idgen.create_id_domain('', 'nowhere');
SELECT idgen.create_id_domain('a b', 'nowhere');
SELECT idgen.create_id_domain('bad_prefix', 'x''); DROP TABLE account; --');
SELECT idgen.create_id_domain(NULL, 'x');
SELECT idgen.create_id_domain('x', NULL);
SELECT idgen.create_id_domain('pg_temp.order_id', 'temporary');

-- a renamed domain keeps its prefix, and the prefix of a dropped domain can be used again
ALTER DOMAIN "Invoice_ID" RENAME TO bill_id;
ALTER DOMAIN invoice_id RENAME TO bill_id;
SELECT * FROM idgen.parse_prefixed_id('inv_1');
DROP DOMAIN bill_id;
SELECT * FROM idgen.parse_prefixed_id('inv_1');
SELECT idgen.create_id_domain('invoice_id', 'inv');
SELECT * FROM idgen.parse_prefixed_id('inv_1');

-- create_id_domain() runs with the privileges of its caller
CREATE ROLE regress_idgen_plain;
SET ROLE regress_idgen_plain;
SELECT idgen.prefixed_id_prefix(idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()));
SELECT 'acct_03e6wlko0bp8e7c9916hklbnd'::account_id;
SELECT * FROM idgen.parse_prefixed_id('acct_1');
SELECT idgen.create_id_domain('public.mine', 'mine');
RESET ROLE;
GRANT CREATE ON SCHEMA "Other" TO regress_idgen_plain;
GRANT USAGE ON SCHEMA "Other" TO regress_idgen_plain;
SET ROLE regress_idgen_plain;
SELECT idgen.create_id_domain('"Other".mine', 'mine');
RESET ROLE;
GRANT SELECT, INSERT, DELETE ON idgen.id_prefixes TO regress_idgen_plain;
SET ROLE regress_idgen_plain;
SELECT idgen.create_id_domain('"Other".mine', 'mine');
RESET ROLE;
SELECT pg_get_userbyid(typowner) AS owner FROM pg_type WHERE oid = '"Other".mine'::regtype;
DROP TABLE account;
DROP DOMAIN account_id, invoice_id;
SET client_min_messages = warning;
DROP SCHEMA "Other" CASCADE;
RESET client_min_messages;
REVOKE ALL ON idgen.id_prefixes FROM regress_idgen_plain;
DROP ROLE regress_idgen_plain;
DELETE FROM idgen.id_prefixes;
DROP FUNCTION violation;
