import { createAuthClient } from './client/auth-client.min.js';

const [message, login, account, dialog] = ['message', 'login', 'account', 'confirm'].map((id) =>
  document.getElementById(id),
);

const auth = createAuthClient({ refreshToken: 'cookie', confirm: askForPassword });

const REASONS = {
  logout: 'You are signed out.',
  deleted: 'Your account is deleted.',
  ended: 'Your session has ended.',
};
auth.on('signedIn', () => {
  // Its password would be tried at the account of another user.
  dialog.close();
  message.textContent = '';
  show();
});
auth.on('signedOut', ({ reason }) => {
  dialog.close();
  show();
  message.textContent = REASONS[reason];
});

/** Draws what the session allows: this tab or another one has signed in or out. */
async function show() {
  login.hidden = auth.session !== null;
  account.hidden = auth.session === null;
  if (!auth.session) return;
  const { greeting } = await auth.request('GET', '/hello');
  account.querySelector('#greeting').textContent = greeting;
  const items = (await auth.sessions()).map(({ created_at, current }) => {
    const item = document.createElement('li');
    item.textContent = `Session since ${new Date(created_at).toLocaleString()}${current ? ' (this one)' : ''}`;
    return item;
  });
  account.querySelector('#sessions').replaceChildren(...items);
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
  const fields = Object.fromEntries(new FormData(login));
  const isNew = event.submitter?.value === 'register';
  attempt(() => (isNew ? auth.register({ name: fields.email.split('@')[0], ...fields }) : auth.login(fields)));
});
account.querySelector('#logout').addEventListener('click', () => attempt(auth.logout));
// The server requires a confirmation: the client calls `askForPassword`, and sends the request again.
account.querySelector('#delete').addEventListener('click', () => attempt(auth.deleteAccount));

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
