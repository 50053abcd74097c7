import { pathOf } from '../../paths';
import { LoginForm } from './form';

export default async function Login({ searchParams }: { searchParams: Promise<Record<string, string>> }) {
  const { next, ended } = await searchParams;
  return (
    <main>
      <h1>Sign in</h1>
      <LoginForm next={pathOf(next)} hasEnded={!!ended} />
    </main>
  );
}
