-- What the sessions of "dev/stress.sh catalogs" call: transactions that are short, so that many of them find that a
-- catalog has changed. A repeated value or entity violates a primary key. Sessions call create_once() with the same
-- commands. No row has the id of the last INSERT.
CREATE EXTENSION idgen;
SELECT idgen.create_id_domain('account_id', 'acct');
CREATE UNLOGGED TABLE made (generator text, id text, PRIMARY KEY (generator, id));
CREATE UNLOGGED TABLE entities (command uuid PRIMARY KEY, entity uuid NOT NULL);
CREATE UNLOGGED TABLE items (id uuid PRIMARY KEY, account account_id);
INSERT INTO items VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON items
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
CREATE PROCEDURE work(first int) LANGUAGE plpgsql AS $$
DECLARE
    command uuid;
    answer record;
BEGIN
    FOR turn IN first..first + 99 LOOP
        INSERT INTO made VALUES ('snowflake', idgen.snowflake()), ('trace_id', idgen.trace_id()),
            ('js_id', idgen.js_id()), ('uuid_v7_ordered', idgen.uuid_v7_ordered()), ('decimal_id', idgen.decimal_id());
        COMMIT;

        command := md5(turn::text);
        SELECT * INTO answer FROM idgen.create_once(command, idgen.keyed_comb());
        IF answer.created THEN
            INSERT INTO entities VALUES (command, answer.entity_id);
        END IF;
        ASSERT (SELECT entity = answer.entity_id FROM entities e WHERE e.command = md5(turn::text)::uuid);
        COMMIT;

        INSERT INTO items VALUES (idgen.uuid_v7(), idgen.prefixed_id('acct'));
        INSERT INTO items VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f') ON CONFLICT DO NOTHING;
        COMMIT;

        BEGIN
            INSERT INTO items VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e');
            ASSERT false, 'an old identifier was stored';
        EXCEPTION WHEN check_violation THEN
        END;
        BEGIN
            INSERT INTO items VALUES (idgen.uuid_v7(), idgen.prefixed_id('other'));
            ASSERT false, 'the prefix of another domain was stored';
        EXCEPTION WHEN check_violation THEN
        END;
        COMMIT;
    END LOOP;
END $$;
CREATE ROLE other;
SELECT format('CREATE TABLE public.table_%s (id int)', i) FROM generate_series(1, 300) i \gexec
