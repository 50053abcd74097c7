import { createAuthClient } from './client/auth-client.min.js';

const [message, login, customers, dialog] = ['message', 'login', 'customers', 'confirm'].map((id) =>
  document.getElementById(id),
);

// The routes of the guard `staff`. A page for customers would have a client of its own for `/auth`.
const auth = createAuthClient({ url: '/staff/auth', refreshToken: 'cookie', confirm: askForPassword });

auth.on('signedIn', () => {
  // Its password would be tried at the account of another user.
  dialog.close();
  attempt(show);
});
auth.on('signedOut', ({ reason }) => {
  dialog.close();
  attempt(show);
  message.textContent = reason === 'logout' ? 'You are signed out.' : 'Your session has ended.';
});

/** Draws what the session allows: this tab or another one has signed in or out. */
async function show() {
  login.hidden = auth.session !== null;
  customers.hidden = auth.session === null;
  login.reset();
  const rows = customers.querySelector('tbody');
  rows.replaceChildren();
  if (!auth.session) return;
  customers.querySelector('#abilities').textContent = auth.session.claims.scope ?? '';
  rows.replaceChildren(...(await auth.request('GET', '/staff/customers')).map(rowOf));
}

function rowOf({ id, name, email }) {
  const row = document.createElement('tr');
  const button = document.createElement('button');
  for (const content of [name, email, button]) row.insertCell().append(content);
  button.textContent = 'End all sessions';
  button.addEventListener('click', () => attempt(() => endSessions(id, name)));
  return row;
}

/** The server requires a confirmation: the client calls `askForPassword`, and sends the request again. */
async function endSessions(id, name) {
  await auth.request('POST', `/staff/customers/${id}/sign-out`);
  message.textContent = `All sessions of ${name} have ended.`;
}

/** Runs `work`, and shows why it was refused. The client has shown the end of a session, and the user knows a cancellation. */
async function attempt(work) {
  message.textContent = '';
  await work().catch(({ reason, message: text }) => {
    if (reason !== 'cancelled' && reason !== 'signedOut') message.textContent = text;
  });
}

login.addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(() => auth.login(Object.fromEntries(new FormData(login))));
});
customers.querySelector('#logout').addEventListener('click', () => attempt(auth.logout));

/** Resolves to true after the password was correct, and to false if the user closes the dialog. */
function askForPassword() {
  const [form, error] = [dialog.querySelector('form'), dialog.querySelector('[role=alert]')];
  form.reset();
  error.textContent = '';
  return new Promise((resolve) => {
    const confirm = async (event) => {
      event.preventDefault();
      try {
        await auth.confirmPassword(form.elements.password.value);
        resolve(true);
        dialog.close();
      } catch ({ message: text }) {
        error.textContent = text;
      }
    };
    const close = () => {
      form.removeEventListener('submit', confirm);
      resolve(false);
    };
    form.addEventListener('submit', confirm);
    dialog.addEventListener('close', close, { once: true });
    dialog.showModal();
  });
}

// The session of an earlier page. If the server does not answer, the client tries again by itself.
await attempt(auth.restore);
if (!auth.session) show();
