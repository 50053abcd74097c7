import { useSession } from '@svc/auth-client/react';
import { Account } from './account';
import { SignIn } from './sign-in';

export function App() {
  const { session, isLoading, error } = useSession();
  if (isLoading) return <p>Loading…</p>;
  if (!session) return <SignIn reason={error?.message} />;
  // Another tab can sign another user in: the key begins a new component.
  return <Account key={session.claims.fid} />;
}
