import Link from 'next/link';

export default function Home() {
  return (
    <main>
      <h1>A public page</h1>
      <Link href="/account">Your account</Link>
    </main>
  );
}
