'use strict';

/**
 * Loads the addon's binary: the one that was built next to the sources, or else the one of the
 * optional package for this platform. What stands in the way is told by one refusal: the first line
 * of its message is the cause, the next says what to do.
 */

const { AsyncResource } = require('node:async_hooks');
const { existsSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { refuse } = require('../errors.js');
/** @type {{ version: string, optionalDependencies?: object }} */
const { optionalDependencies, version } = require('../package.json');
const { describePlatform, flawOf, platformKey } = require('./platform.js');

/** Each is named in full, for tools that read from the source which files a program needs. */
const PACKAGES = {
  'darwin-arm64': () => require('@fencelink/darwin-arm64'),
  'darwin-x64': () => require('@fencelink/darwin-x64'),
  'linux-arm64-gnu': () => require('@fencelink/linux-arm64-gnu'),
  'linux-arm64-musl': () => require('@fencelink/linux-arm64-musl'),
  'linux-x64-gnu': () => require('@fencelink/linux-x64-gnu'),
  'linux-x64-musl': () => require('@fencelink/linux-x64-musl'),
  'win32-arm64-msvc': () => require('@fencelink/win32-arm64-msvc'),
  'win32-x64-msvc': () => require('@fencelink/win32-x64-msvc'),
};

/** The keys of the platforms that there are packages for. */
const PLATFORMS = Object.keys(PACKAGES);

/** The directory of package.json. */
const HOME = dirname(__dirname);

const REINSTALL =
  'Remove node_modules, and install again on this machine; if that does not help, remove the lock ' +
  'file too, since one made on another platform can lack what this one needs.';
const REBUILD = 'This is a clone of the sources: run `npm run build` in it.';

/**
 * The asynchronous context of the import. What lives as long as the thread is made in it: in the
 * first caller's, it would keep what that request has stored there.
 */
const context = new AsyncResource('fencelink');

/** The addon; throws a refusal when there is none that fits. */
function load() {
  const key = platformKey();
  const built = join(HOME, fileName(key));
  if (existsSync(built)) return open(key, built, () => require(built), REBUILD);
  const { place, found } = installed(key);
  const file = join(dirname(place), fileName(key));
  if (found !== version) throw otherVersion(key, file, found, REINSTALL);
  return open(key, file, PACKAGES[key], REINSTALL);
}

const fileName = (key) => `fencelink.${key}.node`;

const packageName = (key) => `@fencelink/${key}`;

const manifestName = (key) => `${packageName(key)}/package.json`;

/** Where the package.json of a platform's package is, and of which version that package is. */
function installed(key) {
  if (!PACKAGES[key]) throw missing(key);
  try {
    const place = require.resolve(manifestName(key));
    return { place, found: require(place).version };
  } catch (/** @type {any} */ cause) {
    if (cause?.code === 'MODULE_NOT_FOUND') throw missing(key, cause);
    throw broken(key, packageName(key), textOf(cause), REINSTALL, cause);
  }
}

function isInstalled(key) {
  try {
    return require.resolve(manifestName(key)) !== '';
  } catch {
    return false;
  }
}

/** Loads a binary that is there. */
function open(key, file, requireIt, advice) {
  let addon;
  try {
    const flaw = flawOf(file);
    if (flaw) throw new Error(flaw);
    addon = context.runInAsyncScope(requireIt);
  } catch (cause) {
    throw broken(key, file, textOf(cause, file), advice, cause);
  }
  if (addon.VERSION !== version) throw otherVersion(key, file, addon.VERSION, advice);
  return addon;
}

/** What an error says, in a line, and without the file that is named beside it. */
function textOf(cause, file) {
  const [line] = String(cause?.message ?? cause).split('\n');
  return line.replace(`${file}: `, '');
}

// ---------------------------------------------------------------------------------------------
// Refusals

function unusable(why, advice, details, cause) {
  const message = `fencelink ${version} has no binary: ${why}\n${advice}${inRenderer()}`;
  return refuse('capability_unavailable', message, { details, cause });
}

function inRenderer() {
  if (/** @type {any} */ (process).type !== 'renderer') return '';
  return ' Electron lets few of its renderers load addons: call fencelink in the main process.';
}

function missing(key, cause) {
  const details = { platform: key };
  if (existsSync(join(HOME, 'src/binding'))) {
    return unusable(
      `it was not built: there is no ${fileName(key)} in ${HOME}.`,
      REBUILD,
      details,
      cause,
    );
  }
  if (cause === undefined) {
    return unusable(
      `there is no package for this platform, ${describePlatform()}.`,
      `There are packages for ${PLATFORMS.join(', ')}. Elsewhere, build it from its sources.`,
      details,
    );
  }
  if (optionalDependencies === undefined) {
    return unusable(
      `this copy was packed from the sources, and not from a release; this is ${describePlatform()}.`,
      `Install a release; or build a clone with \`npm run build\`, and install its folder.`,
      details,
      cause,
    );
  }
  const others = PLATFORMS.filter(isInstalled).map(packageName);
  const instead = others.length > 0 ? `, but ${others.join(' and ')}` : '';
  return unusable(
    `the package ${packageName(key)} is not installed${instead}; this is ${describePlatform()}.`,
    `It is an optional dependency: install without \`--omit=optional\`. ${REINSTALL}`,
    { ...details, package: packageName(key) },
    cause,
  );
}

function otherVersion(key, file, found, advice) {
  return unusable(
    `${file} is of version ${found}, and only ${version} fits.`,
    advice === REBUILD
      ? advice
      : `The versions of fencelink and ${packageName(key)} must be the same. ${advice}`,
    { platform: key, path: file, found, supported: version },
  );
}

function broken(key, file, why, advice, cause) {
  const details = { platform: key, path: file, ...(cause?.code && { code: cause.code }) };
  if (cause?.code === 'ERR_DLOPEN_DISABLED') {
    return unusable(
      `this process may not load addons: ${why}`,
      'Start Node.js without `--no-addons`, and under `--permission` with `--allow-addons`.',
      details,
      cause,
    );
  }
  return unusable(
    `${file} cannot be loaded: ${why}; this is ${describePlatform()}.`,
    advice,
    details,
    cause,
  );
}

module.exports = { context, load, PLATFORMS };
