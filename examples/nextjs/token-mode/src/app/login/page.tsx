import { cookies } from 'next/headers';
import { signOut } from '../../actions';
import { REFRESH } from '../../mode';
import { pathOf } from '../../paths';
import { LoginForm } from './form';

export default async function Login({ searchParams }: { searchParams: Promise<Record<string, string>> }) {
  const { next } = await searchParams;
  const hasSession = (await cookies()).has(REFRESH);
  return (
    <main>
      <h1>Sign in</h1>
      <LoginForm next={pathOf(next)} />
      {hasSession && (
        <form action={signOut}>
          <button>Sign out</button>
        </form>
      )}
    </main>
  );
}
