import * as fc from 'fast-check';
import { type Mail, PasswordHasher } from '@svc/auth';
import { createDatabase } from '../support/stores/database';
import { KeyedOrders } from '../support/flows/access-keys';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { DEVICE_HEADER, REPORT_URL, knownDeviceOptions, report } from '../support/flows/known-devices';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { TestApp } from '../support/hosts/app';
import { Mailbox, linkIn, member, memberOptions } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { rounds } from '../support/runtime/rounds';

/** Every ability of the host, and the lists that keys and their owners have. */
const ABILITIES = ['orders.read', 'orders.write', 'users.read'] as const;
const LISTS: List[] = [[], ['orders.read'], ['orders.*'], ['orders.write', 'users.read'], ['*']];
type List = readonly string[];
const DAY = 86_400;

const covers = (list: readonly string[], name: string): boolean =>
  list.some((one) => one === '*' || one === name || (one.endsWith('.*') && name.startsWith(one.slice(0, -1))));

interface ModelPerson {
  id: string;
  email: string;
  password: string;
  list: List;
  suspended: boolean;
  erased: boolean;
  /** The device of all sessions, because the mails about new ones are limited. */
  device?: string;
}

interface ModelKey {
  id: string;
  text: string;
  /** Null for a service. */
  owner: ModelPerson | null;
  list: readonly string[];
  expiresAt: number;
  revoked: boolean;
}

/** The ends of everything, and whether the keys of the person end, too. */
const ENDS = {
  'DELETE /sessions': true,
  'DELETE /sessions/others': false,
  'a logout': false,
  revokeAll: true,
  'a change of the password': false,
  'a change of the password with end_access_keys': true,
  'a reset with a mailed link': true,
  'a change of the email': false,
  'the undo of a change of the email': true,
  'the report of a sign-in': true,
  'a take-over by a mailed code': true,
  erasure: true,
} as const;
type End = keyof typeof ENDS;

type Step =
  | { do: 'create'; node: number; who: number; list: List; days: number }
  | { do: 'service'; node: number; list: List }
  | { do: 'grant'; who: number; list: List }
  | { do: 'suspend'; who: number; is: boolean }
  | { do: 'wait'; days: number }
  | { do: 'delete'; node: number; by: number; key: number }
  | { do: 'revokeAny'; node: number; key: number }
  | { do: 'revokeEverything'; node: number }
  | { do: 'end'; node: number; who: number; end: End };

const [node, who, key] = [fc.nat(1), fc.nat(1), fc.nat(5)];
const list = fc.constantFrom(...LISTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('create' as const), node, who, list, days: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('service' as const), node, list }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('grant' as const), who, list }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('suspend' as const), who, is: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), node, by: who, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revokeAny' as const), node, key }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      node,
      who,
      end: fc.constantFrom(...(Object.keys(ENDS) as End[])),
    }),
  },
);

/** Reaches each rule: a key of the person before each end, one that stays beside it, and each verdict about abilities. */
const SCRIPT: readonly Step[] = [
  { do: 'grant', who: 0, list: ['*'] },
  { do: 'create', node: 0, who: 0, list: ['orders.*'], days: 3 },
  { do: 'create', node: 1, who: 0, list: ['*'], days: 9 },
  { do: 'grant', who: 0, list: ['orders.read'] },
  { do: 'create', node: 0, who: 0, list: ['orders.*'], days: 9 },
  { do: 'grant', who: 0, list: [] },
  { do: 'grant', who: 0, list: ['orders.write', 'users.read'] },
  { do: 'suspend', who: 0, is: true },
  { do: 'suspend', who: 0, is: false },
  { do: 'wait', days: 4 },
  { do: 'service', node: 0, list: ['orders.write', 'users.read'] },
  { do: 'service', node: 1, list: ['*'] },
  { do: 'delete', node: 0, by: 1, key: 1 },
  { do: 'delete', node: 1, by: 0, key: 1 },
  { do: 'revokeAny', node: 1, key: 2 },
  ...(Object.keys(ENDS) as End[]).flatMap((end, i): Step[] => [
    { do: 'create', node: i % 2, who: 1, list: [], days: 9 },
    { do: 'create', node: i % 2, who: 0, list: ['users.read'], days: 9 },
    { do: 'end', node: (i + 1) % 2, who: 1, end },
  ]),
  { do: 'revokeEverything', node: 1 },
];

describe('two nodes with access keys', () => {
  const mailbox = new Mailbox();
  const nodes: TestApp[] = [];
  let dropDatabase: () => Promise<unknown>;
  let people: ModelPerson[];
  let keys: ModelKey[];
  let now: number;
  let count = 0;
  /** What the probes have seen. */
  const seen = new Set<string>();

  beforeAll(async () => {
    const { url, drop } = await createDatabase();
    dropDatabase = drop;
    const byId = (id: string) => people.find((person) => person.id === id);
    const options = memberOptions(mailbox, {
      ...knownDeviceOptions(),
      hooks: {
        abilities: (id) => [...(byId(String(id))?.list ?? [])],
        canSignIn: (user) => !byId((user as { id: string }).id)?.suspended,
        deleteUser: async (user, { manager }) => {
          await manager.query('DELETE FROM members WHERE id = $1', [(user as { id: string }).id]);
        },
      },
      accessKeys: { maxPerUser: 1000 },
      features: { accessKeys: true, knownDevices: true, emailChange: true, emailCode: true },
    });
    for (let i = 0; i < 2; i++)
      nodes.push(await TestApp.start({ options, databaseUrl: url, controllers: [KeyedOrders] }));
    for (const { clock } of nodes) clock.stop();
  });
  afterAll(async () => {
    for (const t of nodes) await t.stop();
    await dropDatabase();
  });

  async function newPerson(): Promise<ModelPerson> {
    const email = `person-${count++}@example.com`;
    const id = await member(nodes[0]!, email, { emailVerifiedAt: new Date(0) });
    return { id, email, password: PASSWORD, list: [], suspended: false, erased: false };
  }

  async function begin(): Promise<void> {
    [people, keys, now] = [[], [], 0];
    people = [await newPerson(), await newPerson()];
  }

  async function session(t: TestApp, person: ModelPerson): Promise<{ token: string; proof: string }> {
    const { email, password, device } = person;
    const login = t.login(email, password).set(device === undefined ? {} : { [DEVICE_HEADER]: device });
    const { access_token: token, device_token } = (await login.expect(200)).body;
    if (device_token !== undefined) person.device = device_token;
    const { body } = await t.call('post', '/auth/confirm-password', token).send({ password }).expect(200);
    return { token, proof: body.confirmation_token };
  }

  const tokenOf = (mail: Mail): string => linkIn(mail).searchParams.get('token')!;
  /** The link in the next mail to an address that `matches`. */
  async function mailed(to: string, matches: string, send: PromiseLike<unknown>): Promise<string> {
    const before = mailbox.mails.length;
    await send;
    return tokenOf(await mailbox.after(before, (mail) => mail.to === to && mail.text.includes(matches)));
  }
  const as = (
    t: TestApp,
    { token, proof }: { token: string; proof: string },
    method: 'post' | 'delete',
    path: string,
  ) => t.call(method, path, token).set(CONFIRMATION_HEADER, proof);

  async function changeEmail(t: TestApp, person: ModelPerson): Promise<string> {
    const [own, former] = [await session(t, person), person.email];
    const email = `person-${count++}@new.example`;
    const asked = as(t, own, 'post', '/auth/email/change').send({ email }).expect(202);
    const token = await mailed(email, 'confirm-email', asked);
    const undo = await mailed(
      former,
      'undo-email',
      t.http.post('/auth/email/change/confirm').send({ token }).expect(200),
    );
    person.email = email;
    return undo;
  }

  const newPassword = (person: ModelPerson) => {
    const password = `another horse entirely ${count++}`;
    const body = { current_password: person.password, password, password_confirmation: password };
    person.password = password;
    return body;
  };

  /** Some ends take away the password, which another person may know. */
  async function replacePassword(t: TestApp, person: ModelPerson): Promise<void> {
    const hash = await t.app.get(PasswordHasher).hash(newPassword(person).password);
    await t.database.query('UPDATE members SET password_hash = $2 WHERE id = $1', [person.id, hash]);
  }

  const ends: Record<End, (t: TestApp, person: ModelPerson) => Promise<unknown>> = {
    'DELETE /sessions': async (t, person) =>
      t.call('delete', '/auth/sessions', (await session(t, person)).token).expect(204),
    'DELETE /sessions/others': async (t, person) =>
      t.call('delete', '/auth/sessions/others', (await session(t, person)).token).expect(204),
    'a logout': async (t, person) => t.call('post', '/auth/logout', (await session(t, person)).token).expect(204),
    revokeAll: (t, { id }) => t.auth.revokeAll(id),
    'a change of the password': async (t, person) => {
      const { token } = await session(t, person);
      await t.call('post', '/auth/password', token).send(newPassword(person)).expect(200);
    },
    'a change of the password with end_access_keys': async (t, person) => {
      const { token } = await session(t, person);
      await t
        .call('post', '/auth/password', token)
        .send({ ...newPassword(person), end_access_keys: true })
        .expect(200);
    },
    'a reset with a mailed link': async (t, person) => {
      const { email } = person;
      const token = await mailed(email, '/reset', t.http.post('/auth/forgot-password').send({ email }).expect(200));
      const { password, password_confirmation } = newPassword(person);
      await t.http.post('/auth/reset-password').send({ email, token, password, password_confirmation }).expect(200);
    },
    'a change of the email': changeEmail,
    'the undo of a change of the email': async (t, person) => {
      const former = person.email;
      const token = await changeEmail(t, person);
      await t.http.post('/auth/email/change/undo').send({ token }).expect(200);
      person.email = former;
      await replacePassword(t, person);
    },
    'the report of a sign-in': async (t, person) => {
      await session(t, person);
      const token = await mailed(person.email, REPORT_URL, t.login(person.email, person.password).expect(200));
      await report(t, token).expect(200);
      await replacePassword(t, person);
    },
    'a take-over by a mailed code': async (t, person) => {
      await t.database.query('UPDATE members SET email_verified_at = NULL WHERE id = $1', [person.id]);
      await sendCode(t, await mailedCode(t, mailbox, person.email)).expect(200);
      await replacePassword(t, person);
    },
    erasure: async (t, person) => {
      await as(t, await session(t, person), 'delete', '/auth/account').expect(204);
      person.erased = true;
      // A new person takes the place, so that later steps have one.
      people[people.indexOf(person)] = await newPerson();
    },
  };

  function wait(seconds: number): void {
    now += seconds;
    for (const { clock } of nodes) clock.advance(seconds);
  }

  async function take(next: Step): Promise<void> {
    if (next.do === 'wait') {
      // A minute more: the clocks of the nodes are stopped at times that differ by milliseconds.
      wait(next.days * DAY + 60);
      return;
    }
    if (next.do === 'grant') return void (people[next.who]!.list = next.list);
    if (next.do === 'suspend') return void (people[next.who]!.suspended = next.is);
    const t = nodes[next.node]!;
    if (next.do === 'service') {
      const made = await t.auth.accessKeys.create(
        { service: 'ci' },
        { label: 'x', abilities: next.list, expiresInDays: 9 },
      );
      keys.push({
        id: made.id,
        text: made.access_key,
        owner: null,
        list: next.list,
        expiresAt: now + 9 * DAY,
        revoked: false,
      });
      return;
    }
    if (next.do === 'revokeEverything') {
      await t.auth.revokeEverything();
      // Those of services, too: the operator ends all access.
      for (const one of keys) one.revoked = true;
      return;
    }
    const chosen = 'key' in next && keys.length ? keys[next.key % keys.length] : undefined;
    if (next.do === 'revokeAny') {
      if (!chosen) return;
      const isKnown = !chosen.revoked && !chosen.owner?.erased;
      expect(await t.auth.accessKeys.revokeAny(chosen.id)).toBe(isKnown);
      chosen.revoked = true;
      return;
    }
    const person = people['who' in next ? next.who : next.by]!;
    if (person.suspended) return void (await t.login(person.email, person.password).expect(401));
    if (next.do === 'delete') {
      if (!chosen) return;
      await t.call('delete', `/auth/access-keys/${chosen.id}`, (await session(t, person)).token).expect(204);
      chosen.revoked ||= chosen.owner === person;
      return;
    }
    if (next.do === 'create') {
      const isAllowed = next.list.every((name) => covers(person.list, name));
      const { status, body } = await as(t, await session(t, person), 'post', '/auth/access-keys').send({
        label: 'x',
        abilities: next.list,
        expires_in_days: next.days,
      });
      expect([next, status]).toEqual([next, isAllowed ? 200 : 422]);
      seen.add(`creation ${status}`);
      if (isAllowed) {
        const expiresAt = now + next.days * DAY;
        keys.push({ id: body.id, text: body.access_key, owner: person, list: next.list, expiresAt, revoked: false });
      }
      return;
    }
    const hadKeys = keys.some((one) => one.owner === person && !one.revoked);
    // The pause between two reset links is over: a report mails one, too.
    wait(61);
    await ends[next.end](t, person);
    if (hadKeys) seen.add(next.end);
    if (ENDS[next.end]) for (const one of keys) one.revoked ||= one.owner === person;
  }

  /** Requires for each key and each node the answer of the model. */
  async function probe(after: Step): Promise<void> {
    for (const one of keys) {
      const { owner } = one;
      const isOver = one.revoked ? 'revoked' : one.expiresAt <= now ? 'expired' : '';
      const isOut = owner?.erased ? 'erased' : owner?.suspended ? 'suspended' : '';
      const may = (name: string): boolean => covers(one.list, name) && (!owner || covers(owner.list, name));
      for (const t of nodes) {
        const { status, body } = await t.get('/orders', one.text);
        const refusal = isOver || isOut;
        seen.add(refusal || 'accepted');
        expect([after, one, refusal, status]).toEqual([after, one, refusal, refusal ? 401 : 200]);
        const written = await t.call('post', '/orders', one.text);
        const expected = refusal ? 401 : may('orders.write') ? 201 : 403;
        seen.add(`write ${expected}`);
        expect([after, one, written.status]).toEqual([after, one, expected]);
        if (!refusal)
          expect([after, one, ABILITIES.filter((name) => covers(body.abilities, name))]).toEqual([
            after,
            one,
            ABILITIES.filter(may),
          ]);
      }
    }
    keys = keys.filter((one) => !one.revoked || one.expiresAt > now);
  }

  it('accept a key exactly if the model does, and reach each rule', async () => {
    await begin();
    for (const next of SCRIPT) {
      await take(next);
      await probe(next);
    }
    expect([...seen].toSorted()).toEqual(
      [
        ...Object.keys(ENDS),
        'accepted',
        'revoked',
        'expired',
        'suspended',
        'creation 200',
        'creation 422',
        'write 201',
        'write 401',
        'write 403',
      ].toSorted(),
    );
  });

  it('accept a key exactly if the model does, in any sequence', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 20 }), async (sequence) => {
      await begin();
      for (const next of sequence) {
        await take(next);
        await probe(next);
      }
    });
    await fc.assert(property, { numRuns: rounds(4), seed: 51, endOnFailure: true });
  });
});
