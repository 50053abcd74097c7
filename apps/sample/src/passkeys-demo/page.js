import { autofill, create, get, stopAutofill, tellBrowser } from './passkeys.js';

/** Tokens live as long as the page: nothing here writes them where a script could find them later. */
let session = null;
let proof = null;

const element = (id) => document.getElementById(id);
const say = (text) => (element('status').textContent = text);
const claims = () => JSON.parse(atob(session.access_token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/')));

/** Calls the API. Throws what it says when it refuses. */
async function call(method, path, body) {
  const headers = {
    'Content-Type': 'application/json',
    ...(session && { Authorization: `Bearer ${session.access_token}` }),
    ...(proof && { 'X-Svc-Confirmation': proof }),
  };
  const response = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

/** Runs what a user asked for, and says how it ended. */
async function act(work, done) {
  try {
    await work();
    say(done);
  } catch (error) {
    say(error.message);
  }
}

const onClick = (id, work, done) => element(id).addEventListener('click', () => act(work, done));
const onSubmit = (form, work, done) =>
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void act(() => work(Object.fromEntries(new FormData(form))), done);
  });

async function enter(tokens) {
  stopAutofill();
  session = tokens;
  const { data } = await call('GET', 'user');
  element('who').textContent = data.email;
  element('how').textContent = claims().amr.join(', ');
  show();
  await list();
}

function show() {
  element('signed-out').hidden = session !== null;
  element('signed-in').hidden = session === null;
  if (!session) waitForAutofill();
}

/** A passkey that the user picks from the suggestions of the email field. */
function waitForAutofill() {
  autofill(call, (assertion) =>
    act(async () => enter(await call('POST', 'auth/passkeys/login', assertion)), 'Signed in.'),
  );
}

async function list() {
  const listed = await call('GET', 'auth/passkeys');
  element('passkeys').replaceChildren(...listed.passkeys.map(row));
  await tellBrowser(listed);
}

function row({ id, name, last_used_at }) {
  const item = element('passkey').content.cloneNode(true);
  const form = item.querySelector('form');
  form.elements.name.value = name ?? '';
  form.querySelector('.used').textContent = last_used_at
    ? new Date(last_used_at * 1000).toLocaleString()
    : 'never used';
  onSubmit(form, async (fields) => (await call('PATCH', `auth/passkeys/${id}`, fields), list()), 'Renamed.');
  const remove = async () => (await call('DELETE', `auth/passkeys/${id}`), list());
  form.querySelector('.delete').addEventListener('click', () => act(remove, 'Deleted.'));
  return item;
}

onSubmit(element('password-login'), async (fields) => enter(await call('POST', 'auth/login', fields)), 'Signed in.');
onClick('passkey-login', async () => enter(await call('POST', 'auth/passkeys/login', await get(call))), 'Signed in.');

const confirmed = ({ confirmation_token }) => (proof = confirmation_token);
onSubmit(
  element('password-confirm'),
  async (fields) => confirmed(await call('POST', 'auth/confirm-password', fields)),
  'Confirmed.',
);
onClick(
  'passkey-confirm',
  async () => confirmed(await call('POST', 'auth/confirm-passkey', await get(call))),
  'Confirmed.',
);

onSubmit(
  element('add'),
  async ({ name }) => {
    await call('POST', 'auth/passkeys', { name, credential: await create(call) });
    await list();
  },
  'Added.',
);

onClick(
  'logout',
  async () => {
    await call('POST', 'auth/logout');
    session = proof = null;
    show();
  },
  'Signed out.',
);

show();
