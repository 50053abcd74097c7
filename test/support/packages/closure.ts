// Shows a part of one install of npm in another folder: the packages that some names need, directly or not.
import { linkSync, mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A package of a lock file. */
interface Locked {
  /** Where npm has found it: an address of the registry, a path, or nothing for a link to a folder. */
  resolved?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** The dependencies of a manifest of npm. */
export type Needs = Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>>;

/**
 * One manifest with the dependencies of several.
 *
 * @throws Error if two of them name different versions of a package: npm installs one of them at most where all find it
 */
export function unionOf(manifests: ReadonlyMap<string, Needs>): Needs {
  const union = { dependencies: {} as Record<string, string>, devDependencies: {} as Record<string, string> };
  const first = new Map<string, { version: string; name: string }>();
  for (const [name, manifest] of manifests)
    for (const kind of ['dependencies', 'devDependencies'] as const)
      for (const [needed, version] of Object.entries(manifest[kind] ?? {})) {
        const other = first.get(needed);
        if (other && other.version !== version)
          throw new Error(
            `${needed} is ${other.version} in ${other.name}, and ${version} in ${name}. Use one version.`,
          );
        first.set(needed, { version, name });
        union[kind][needed] = version;
      }
  return union;
}

/**
 * What npm would install for these names alone, of the packages that it has installed in a folder.
 *
 * @param folder where npm has installed them. It lists in a hidden lock file what it has installed, and not what it left out.
 * @returns the packages right below `node_modules`. The versions that only one of them uses are in its folder.
 * @throws Error if a package is not installed
 */
export function closureOf(folder: string, names: Iterable<string>): Set<string> {
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> };
  /** The place from which Node loads a package for the code in a folder. */
  const placeOf = (name: string, from: string): string | undefined => {
    const place = `${from && `${from}/`}node_modules/${name}`;
    if (place in packages) return place;
    return from ? placeOf(name, from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1))) : undefined;
  };
  const found = new Set<string>();
  const visit = (name: string, from: string, isOptional = false): void => {
    const place = placeOf(name, from);
    if (!place && !isOptional) throw new Error(`${name}, which ${from || 'the manifest'} needs, is not in ${folder}`);
    if (!place || found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[place]!;
    const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta?.[peer]?.optional);
    for (const needed of [...Object.keys(dependencies ?? {}), ...peers]) visit(needed, place);
    for (const needed of Object.keys(optionalDependencies ?? {})) visit(needed, place, true);
  };
  for (const name of names) visit(name, '');
  return topLevel(found);
}

/** The packages right below `node_modules`, for places in a lock file. */
const topLevel = (places: Iterable<string>): Set<string> =>
  new Set([...places].map((place) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place)![1]!));

/** The packages of the registry that npm has installed in a folder, without those that are local files or folders. */
export function installedIn(folder: string): Set<string> {
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> };
  const ofRegistry = Object.entries(packages).filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''));
  return topLevel(ofRegistry.map(([place]) => place));
}

/**
 * Shows packages of one folder in another one, with hard links: the copies share the content of the files with the originals.
 * A symbolic link to a package would not do, because its code would find all other packages beside the original.
 */
export function linkPackages(from: string, to: string, names: ReadonlySet<string>): void {
  for (const name of names) linkTree(join(from, 'node_modules', name), join(to, 'node_modules', name));
  const commands = join(from, 'node_modules/.bin');
  mkdirSync(join(to, 'node_modules/.bin'), { recursive: true });
  for (const command of readdirSync(commands)) {
    const target = readlinkSync(join(commands, command));
    if (names.has(/^\.\.\/((?:@[^/]+\/)?[^/]+)/.exec(target)?.[1] ?? ''))
      symlinkSync(target, join(to, 'node_modules/.bin', command));
  }
}

/** Shows a folder elsewhere, with hard links to its files. */
export function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkSync(source, target);
  }
}
