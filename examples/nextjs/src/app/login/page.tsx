import { cookies } from 'next/headers';
import { signOut } from '../../actions';
import { pathOf } from '../../paths';
import { REFRESH, isTokenMode } from '../../session';
import { CookieModeForm } from './cookie-mode-form';
import { TokenModeForm } from './token-mode-form';

export default async function Login({ searchParams }: { searchParams: Promise<Record<string, string>> }) {
  const { next, ended } = await searchParams;
  return (
    <main>
      <h1>Sign in</h1>
      {isTokenMode ? <TokenModeForm next={pathOf(next)} /> : <CookieModeForm next={pathOf(next)} hasEnded={!!ended} />}
      {isTokenMode && (await cookies()).has(REFRESH) && (
        <form action={signOut}>
          <button>Sign out</button>
        </form>
      )}
    </main>
  );
}
