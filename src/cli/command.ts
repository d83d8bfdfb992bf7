// A command is declared once: commander's parser, the text of `--help` and the type that its module receives follow from it.
import { Argument, InvalidArgumentError, Option, type Command } from 'commander'

/** Makes commander's own option or argument. A command receives a `T`. */
interface Declared<Made, T> {
  readonly make: (flag: string) => Made
  /** Never set: it only carries the type. */
  readonly type?: T
}
type OptionOf<T> = Declared<Option, T>
type ArgumentOf<T> = Declared<Argument, T>
type Members<Made> = Readonly<Record<string, Declared<Made, unknown>>>

interface CommandSpec<A extends Members<Argument>, O extends Members<Option>> {
  readonly name: string
  readonly about: string
  /** In their order; the names are those of the members that the command receives. */
  readonly args: A
  /** `expiresAt` is `--expires-at`. */
  readonly options: O
  /** Follows the help. */
  readonly after: string | undefined
}

/** Declares a command. */
export function command<A extends Members<Argument> = {}, O extends Members<Option> = {}>(
  name: string,
  spec: { readonly about: string; readonly args?: A; readonly options?: O; readonly after?: string },
): CommandSpec<A, O> {
  const { about, args = {} as A, options = {} as O, after } = spec
  return { name, about, args, options, after }
}

/** The members that a command receives: its arguments and its options; a flag is a boolean. */
export type Given<Spec> = Spec extends CommandSpec<infer A, infer O> ? TypesOf<A> & TypesOf<O> : never
type TypesOf<M> = { readonly [Name in keyof M]: M[Name] extends Declared<unknown, infer T> ? T : never }

/** Adds a command to those of `parent`; as `declare`. */
export function define<A extends Members<Argument>, O extends Members<Option>>(
  parent: Command,
  spec: CommandSpec<A, O>,
  run: Run<CommandSpec<A, O>>,
): Command {
  return declare(parent.command(spec.name), spec, run)
}

type Run<Spec> = (given: Given<Spec>, made: Command) => unknown

/**
 * Declares the arguments, options and help of `spec` for a command of commander.
 * @param run a number that it returns is the exit code
 */
export function declare<A extends Members<Argument>, O extends Members<Option>>(
  made: Command,
  { about, args, options, after }: CommandSpec<A, O>,
  run: Run<CommandSpec<A, O>>,
): Command {
  made.description(about)
  for (const argument of Object.values(args)) made.addArgument(argument.make(''))
  for (const [name, option] of Object.entries(options)) made.addOption(option.make(flagOf(name)))
  if (after !== undefined) made.addHelpText('after', after)
  return made.action(async () => {
    const code = await run(givenTo(made, Object.keys(args)) as Given<CommandSpec<A, O>>, made)
    if (typeof code === 'number') process.exitCode = code
  })
}

function givenTo(made: Command, argumentNames: readonly string[]): Record<string, unknown> {
  const flags = made.options.filter((option) => option.isBoolean())
  return {
    ...Object.fromEntries(flags.map((option) => [option.attributeName(), false])),
    ...optionsOf(made),
    ...Object.fromEntries(argumentNames.map((name, i) => [name, made.processedArgs[i]])),
  }
}

/** A profile on the command line says who acts: an address or key that the shell exports must not change that. */
function optionsOf(made: Command): Record<string, unknown> {
  const options = Object.entries(made.opts<Record<string, unknown>>())
  if (made.getOptionValueSource('profile') !== 'cli') return Object.fromEntries(options)
  return Object.fromEntries(options.filter(([name]) => made.getOptionValueSource(name) !== 'env'))
}

const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

type Value<Text extends string> = Text extends `${string}...${'>' | ']'}`
  ? readonly string[]
  : Text extends `<${string}`
    ? string
    : string | undefined

/** An argument. @param text its name in brackets: `<id>`, `[id]`, `<file...>` */
export const argument = <Text extends string>(text: Text, about?: string): ArgumentOf<Value<Text>> => ({
  make: () => new Argument(text, about),
})

/** An argument that is one of some words. */
export const argumentOf = <const T extends string>(
  choices: readonly T[],
  text: string,
  about: string,
): ArgumentOf<T> => ({ make: () => new Argument(text, about).choices(choices) })

/** Further settings of an option in commander: conflicts, a variable of the environment. */
type More = (option: Option) => Option

/** An option without a value: it is false where it is not given. */
export const flag = (about: string, more: More = same): OptionOf<boolean> => ({
  make: (name) => more(new Option(name, about)),
})

/** An option with a value, which may be left out. @param text the value's name in brackets; `<id...>` takes several */
export const optional = <Text extends `<${string}>`>(
  text: Text,
  about: string,
  more: More = same,
): OptionOf<Value<Text> | undefined> => ({ make: (name) => more(new Option(`${name} ${text}`, about)) })

/** The option with a default value; `--help` shows it. */
export const byDefault = <T>(value: T, { make }: OptionOf<T | undefined>): OptionOf<T> => ({
  make: (name) => make(name).default(value),
})

/** The option, which must be given. */
export const mandatory = <T>({ make }: OptionOf<T | undefined>): OptionOf<T> => ({
  make: (name) => make(name).makeOptionMandatory(),
})

export const required = (text: `<${string}>`, about: string): OptionOf<string> =>
  mandatory(optional(text, about))

/** An option whose value is one of some words. */
export const oneOf = <const T extends string>(
  choices: readonly T[],
  text: `<${string}>`,
  about: string,
  more: More = same,
): OptionOf<T | undefined> => ({
  make: (name) => more(new Option(`${name} ${text}`, about).choices(choices)),
})

/**
 * An option whose value is read by a function.
 * @param parse throws InvalidArgumentError with a sentence; `earlier` is what it returned for the option before this one
 */
export const parsed = <T>(
  parse: (value: string, earlier?: T) => T,
  text: `<${string}>`,
  about: string,
): OptionOf<T | undefined> => ({
  make: (name) => new Option(`${name} ${text}`, about).argParser(parse),
})

/** An option that may be repeated. Not `<action...>`, which would take an argument behind it for one more value. */
export const repeated = (text: `<${string}>`, about: string): OptionOf<readonly string[] | undefined> =>
  parsed(collected, text, about)

function collected(value: string, earlier: readonly string[] = []): readonly string[] {
  if (value === '') throw new InvalidArgumentError('It is empty.')
  return [...earlier, value]
}

function same(option: Option): Option {
  return option
}
