'use client';

import { useActionState } from 'react';
import { signIn } from '../../actions';

export function LoginForm({ next }: { next: string }) {
  const [{ message, email }, action] = useActionState(signIn, { message: '', email: '' });
  return (
    <form action={action}>
      <input name="next" type="hidden" value={next} />
      <label>
        Email <input name="email" type="email" autoComplete="username" defaultValue={email} />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" />
      </label>
      <button>Sign in</button>
      <p role="alert">{message}</p>
    </form>
  );
}
