import { createAuthClient } from './client/auth-client.min.js';
import {
  confirmWith,
  finishSignIn,
  linkWith,
  linkedIdentities,
  signInWith,
  unlink,
} from './client/auth-identities.min.js';

const [message, user, ways, linked] = ['message', 'user', 'ways', 'linked'].map((id) => document.getElementById(id));

/** A user without a password confirms at a provider. */
const confirm = async () => {
  const [{ provider }] = await linkedIdentities(auth);
  await confirmWith(auth, provider, { popup: true });
  return true;
};
const auth = createAuthClient({ refreshToken: 'cookie', confirm });

/** Runs `work`, and shows why it was refused. The user knows a cancellation. */
const attempt = (work) => {
  message.textContent = '';
  return work().catch(({ name, message: text }) => {
    if (name !== 'AbortError') message.textContent = text;
  });
};
const button = (label, work) => {
  const element = document.createElement('button');
  element.textContent = label;
  element.addEventListener('click', () => attempt(work));
  return element;
};

/** What is missing after a provider has answered: an application shows its forms for it. */
const nextOf = (answer) =>
  answer &&
  (message.textContent = answer.status === 'registration-required' ? `Missing: ${answer.fields}` : 'One more step');

const providers = await (await fetch('/providers')).json();

async function show() {
  const { session } = auth;
  user.textContent = session ? `Signed in as ${(await auth.request('GET', '/me')).name}` : 'Not signed in';
  ways.replaceChildren(
    ...providers.flatMap((name) =>
      session
        ? [button(`Link ${name}`, () => linkWith(auth, name, { popup: true }).then(show))]
        : [
            button(`Continue with ${name}`, async () => nextOf(await signInWith(auth, name))),
            button(`Continue with ${name} in a window`, async () =>
              nextOf(await signInWith(auth, name, { popup: true })),
            ),
          ],
    ),
    ...(session ? [button('Sign out', auth.logout)] : []),
  );
  const rows = session ? await linkedIdentities(auth) : [];
  linked.replaceChildren(
    ...rows.map(({ id, provider, email }) => {
      const item = document.createElement('li');
      item.append(
        `${provider}: ${email} `,
        button(`Unlink ${email}`, () => unlink(auth, id).then(show)),
      );
      return item;
    }),
  );
}
auth.on('signedIn', show);
auth.on('signedOut', show);

// On the page to which a provider returns, before anything else: it removes the parameters from the address.
await attempt(async () => {
  const finished = await finishSignIn(auth);
  if (finished?.way === 'lost') message.textContent = 'This sign-in is over. Begin again.';
  nextOf(finished?.answer);
});
if (!auth.session) await attempt(auth.restore);
if (!auth.session) await show();
