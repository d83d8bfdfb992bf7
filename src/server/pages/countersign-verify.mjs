#!/usr/bin/env node
// Verifies Countersign evidence offline, like `countersign verify`. One file: it needs Node 20 or newer, reads the files that it is
// given, opens no connection and starts no program. Made from tools/verifier-page/command.ts and what that imports.
//   node countersign-verify.mjs record.json --jwks keys.json
//   node countersign-verify.mjs --help
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)

var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __require = /* @__PURE__ */ ((x) => typeof require !== "undefined" ? require : typeof Proxy !== "undefined" ? new Proxy(x, {
  get: (a, b) => (typeof require !== "undefined" ? require : a)[b]
}) : x)(function(x) {
  if (typeof require !== "undefined") return require.apply(this, arguments);
  throw Error('Dynamic require of "' + x + '" is not supported');
});
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e) {
    throw err = [e], e;
  }
};
var __commonJS = (cb, mod2) => function __require2() {
  try {
    return mod2 || (0, cb[__getOwnPropNames(cb)[0]])((mod2 = { exports: {} }).exports, mod2), mod2.exports;
  } catch (e) {
    throw mod2 = 0, e;
  }
};
var __export = (target, all2) => {
  for (var name in all2)
    __defProp(target, name, { get: all2[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod2, isNodeMode, target) => (target = mod2 != null ? __create(__getProtoOf(mod2)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod2 || !mod2.__esModule ? __defProp(target, "default", { value: mod2, enumerable: true }) : target,
  mod2
));

// node_modules/commander/lib/error.js
var require_error = __commonJS({
  "node_modules/commander/lib/error.js"(exports) {
    var CommanderError2 = class extends Error {
      /**
       * Constructs the CommanderError class
       * @param {number} exitCode suggested exit code which could be used with process.exit
       * @param {string} code an id string representing the error
       * @param {string} message human-readable description of the error
       */
      constructor(exitCode, code, message2) {
        super(message2);
        Error.captureStackTrace(this, this.constructor);
        this.name = this.constructor.name;
        this.code = code;
        this.exitCode = exitCode;
        this.nestedError = void 0;
      }
    };
    var InvalidArgumentError2 = class extends CommanderError2 {
      /**
       * Constructs the InvalidArgumentError class
       * @param {string} [message] explanation of why argument is invalid
       */
      constructor(message2) {
        super(1, "commander.invalidArgument", message2);
        Error.captureStackTrace(this, this.constructor);
        this.name = this.constructor.name;
      }
    };
    exports.CommanderError = CommanderError2;
    exports.InvalidArgumentError = InvalidArgumentError2;
  }
});

// node_modules/commander/lib/argument.js
var require_argument = __commonJS({
  "node_modules/commander/lib/argument.js"(exports) {
    var { InvalidArgumentError: InvalidArgumentError2 } = require_error();
    var Argument2 = class {
      /**
       * Initialize a new command argument with the given name and description.
       * The default is that the argument is required, and you can explicitly
       * indicate this with <> around the name. Put [] around the name for an optional argument.
       *
       * @param {string} name
       * @param {string} [description]
       */
      constructor(name, description) {
        this.description = description || "";
        this.variadic = false;
        this.parseArg = void 0;
        this.defaultValue = void 0;
        this.defaultValueDescription = void 0;
        this.argChoices = void 0;
        switch (name[0]) {
          case "<":
            this.required = true;
            this._name = name.slice(1, -1);
            break;
          case "[":
            this.required = false;
            this._name = name.slice(1, -1);
            break;
          default:
            this.required = true;
            this._name = name;
            break;
        }
        if (this._name.endsWith("...")) {
          this.variadic = true;
          this._name = this._name.slice(0, -3);
        }
      }
      /**
       * Return argument name.
       *
       * @return {string}
       */
      name() {
        return this._name;
      }
      /**
       * @package
       */
      _collectValue(value, previous) {
        if (previous === this.defaultValue || !Array.isArray(previous)) {
          return [value];
        }
        previous.push(value);
        return previous;
      }
      /**
       * Set the default value, and optionally supply the description to be displayed in the help.
       *
       * @param {*} value
       * @param {string} [description]
       * @return {Argument}
       */
      default(value, description) {
        this.defaultValue = value;
        this.defaultValueDescription = description;
        return this;
      }
      /**
       * Set the custom handler for processing CLI command arguments into argument values.
       *
       * @param {Function} [fn]
       * @return {Argument}
       */
      argParser(fn) {
        this.parseArg = fn;
        return this;
      }
      /**
       * Only allow argument value to be one of choices.
       *
       * @param {string[]} values
       * @return {Argument}
       */
      choices(values) {
        this.argChoices = values.slice();
        this.parseArg = (arg, previous) => {
          if (!this.argChoices.includes(arg)) {
            throw new InvalidArgumentError2(
              `Allowed choices are ${this.argChoices.join(", ")}.`
            );
          }
          if (this.variadic) {
            return this._collectValue(arg, previous);
          }
          return arg;
        };
        return this;
      }
      /**
       * Make argument required.
       *
       * @returns {Argument}
       */
      argRequired() {
        this.required = true;
        return this;
      }
      /**
       * Make argument optional.
       *
       * @returns {Argument}
       */
      argOptional() {
        this.required = false;
        return this;
      }
    };
    function humanReadableArgName(arg) {
      const nameOutput = arg.name() + (arg.variadic === true ? "..." : "");
      return arg.required ? "<" + nameOutput + ">" : "[" + nameOutput + "]";
    }
    exports.Argument = Argument2;
    exports.humanReadableArgName = humanReadableArgName;
  }
});

// none:none
var require_none = __commonJS({
  "none:none"(exports, module) {
    module.exports = {};
  }
});

// node_modules/commander/lib/help.js
var require_help = __commonJS({
  "node_modules/commander/lib/help.js"(exports) {
    var { humanReadableArgName } = require_argument();
    var Help2 = class {
      constructor() {
        this.helpWidth = void 0;
        this.minWidthToWrap = 40;
        this.sortSubcommands = false;
        this.sortOptions = false;
        this.showGlobalOptions = false;
      }
      /**
       * prepareContext is called by Commander after applying overrides from `Command.configureHelp()`
       * and just before calling `formatHelp()`.
       *
       * Commander just uses the helpWidth and the rest is provided for optional use by more complex subclasses.
       *
       * @param {{ error?: boolean, helpWidth?: number, outputHasColors?: boolean }} contextOptions
       */
      prepareContext(contextOptions) {
        this.helpWidth = this.helpWidth ?? contextOptions.helpWidth ?? 80;
      }
      /**
       * Get an array of the visible subcommands. Includes a placeholder for the implicit help command, if there is one.
       *
       * @param {Command} cmd
       * @returns {Command[]}
       */
      visibleCommands(cmd) {
        const visibleCommands = cmd.commands.filter((cmd2) => !cmd2._hidden);
        const helpCommand = cmd._getHelpCommand();
        if (helpCommand && !helpCommand._hidden) {
          visibleCommands.push(helpCommand);
        }
        if (this.sortSubcommands) {
          visibleCommands.sort((a, b) => {
            return a.name().localeCompare(b.name());
          });
        }
        return visibleCommands;
      }
      /**
       * Compare options for sort.
       *
       * @param {Option} a
       * @param {Option} b
       * @returns {number}
       */
      compareOptions(a, b) {
        const getSortKey = (option) => {
          return option.short ? option.short.replace(/^-/, "") : option.long.replace(/^--/, "");
        };
        return getSortKey(a).localeCompare(getSortKey(b));
      }
      /**
       * Get an array of the visible options. Includes a placeholder for the implicit help option, if there is one.
       *
       * @param {Command} cmd
       * @returns {Option[]}
       */
      visibleOptions(cmd) {
        const visibleOptions = cmd.options.filter((option) => !option.hidden);
        const helpOption = cmd._getHelpOption();
        if (helpOption && !helpOption.hidden) {
          const removeShort = helpOption.short && cmd._findOption(helpOption.short);
          const removeLong = helpOption.long && cmd._findOption(helpOption.long);
          if (!removeShort && !removeLong) {
            visibleOptions.push(helpOption);
          } else if (helpOption.long && !removeLong) {
            visibleOptions.push(
              cmd.createOption(helpOption.long, helpOption.description)
            );
          } else if (helpOption.short && !removeShort) {
            visibleOptions.push(
              cmd.createOption(helpOption.short, helpOption.description)
            );
          }
        }
        if (this.sortOptions) {
          visibleOptions.sort(this.compareOptions);
        }
        return visibleOptions;
      }
      /**
       * Get an array of the visible global options. (Not including help.)
       *
       * @param {Command} cmd
       * @returns {Option[]}
       */
      visibleGlobalOptions(cmd) {
        if (!this.showGlobalOptions) return [];
        const globalOptions = [];
        for (let ancestorCmd = cmd.parent; ancestorCmd; ancestorCmd = ancestorCmd.parent) {
          const visibleOptions = ancestorCmd.options.filter(
            (option) => !option.hidden
          );
          globalOptions.push(...visibleOptions);
        }
        if (this.sortOptions) {
          globalOptions.sort(this.compareOptions);
        }
        return globalOptions;
      }
      /**
       * Get an array of the arguments if any have a description.
       *
       * @param {Command} cmd
       * @returns {Argument[]}
       */
      visibleArguments(cmd) {
        if (cmd._argsDescription) {
          cmd.registeredArguments.forEach((argument) => {
            argument.description = argument.description || cmd._argsDescription[argument.name()] || "";
          });
        }
        if (cmd.registeredArguments.find((argument) => argument.description)) {
          return cmd.registeredArguments;
        }
        return [];
      }
      /**
       * Get the command term to show in the list of subcommands.
       *
       * @param {Command} cmd
       * @returns {string}
       */
      subcommandTerm(cmd) {
        const args = cmd.registeredArguments.map((arg) => humanReadableArgName(arg)).join(" ");
        return cmd._name + (cmd._aliases[0] ? "|" + cmd._aliases[0] : "") + (cmd.options.length ? " [options]" : "") + // simplistic check for non-help option
        (args ? " " + args : "");
      }
      /**
       * Get the option term to show in the list of options.
       *
       * @param {Option} option
       * @returns {string}
       */
      optionTerm(option) {
        return option.flags;
      }
      /**
       * Get the argument term to show in the list of arguments.
       *
       * @param {Argument} argument
       * @returns {string}
       */
      argumentTerm(argument) {
        return argument.name();
      }
      /**
       * Get the longest command term length.
       *
       * @param {Command} cmd
       * @param {Help} helper
       * @returns {number}
       */
      longestSubcommandTermLength(cmd, helper) {
        return helper.visibleCommands(cmd).reduce((max, command) => {
          return Math.max(
            max,
            this.displayWidth(
              helper.styleSubcommandTerm(helper.subcommandTerm(command))
            )
          );
        }, 0);
      }
      /**
       * Get the longest option term length.
       *
       * @param {Command} cmd
       * @param {Help} helper
       * @returns {number}
       */
      longestOptionTermLength(cmd, helper) {
        return helper.visibleOptions(cmd).reduce((max, option) => {
          return Math.max(
            max,
            this.displayWidth(helper.styleOptionTerm(helper.optionTerm(option)))
          );
        }, 0);
      }
      /**
       * Get the longest global option term length.
       *
       * @param {Command} cmd
       * @param {Help} helper
       * @returns {number}
       */
      longestGlobalOptionTermLength(cmd, helper) {
        return helper.visibleGlobalOptions(cmd).reduce((max, option) => {
          return Math.max(
            max,
            this.displayWidth(helper.styleOptionTerm(helper.optionTerm(option)))
          );
        }, 0);
      }
      /**
       * Get the longest argument term length.
       *
       * @param {Command} cmd
       * @param {Help} helper
       * @returns {number}
       */
      longestArgumentTermLength(cmd, helper) {
        return helper.visibleArguments(cmd).reduce((max, argument) => {
          return Math.max(
            max,
            this.displayWidth(
              helper.styleArgumentTerm(helper.argumentTerm(argument))
            )
          );
        }, 0);
      }
      /**
       * Get the command usage to be displayed at the top of the built-in help.
       *
       * @param {Command} cmd
       * @returns {string}
       */
      commandUsage(cmd) {
        let cmdName = cmd._name;
        if (cmd._aliases[0]) {
          cmdName = cmdName + "|" + cmd._aliases[0];
        }
        let ancestorCmdNames = "";
        for (let ancestorCmd = cmd.parent; ancestorCmd; ancestorCmd = ancestorCmd.parent) {
          ancestorCmdNames = ancestorCmd.name() + " " + ancestorCmdNames;
        }
        return ancestorCmdNames + cmdName + " " + cmd.usage();
      }
      /**
       * Get the description for the command.
       *
       * @param {Command} cmd
       * @returns {string}
       */
      commandDescription(cmd) {
        return cmd.description();
      }
      /**
       * Get the subcommand summary to show in the list of subcommands.
       * (Fallback to description for backwards compatibility.)
       *
       * @param {Command} cmd
       * @returns {string}
       */
      subcommandDescription(cmd) {
        return cmd.summary() || cmd.description();
      }
      /**
       * Get the option description to show in the list of options.
       *
       * @param {Option} option
       * @return {string}
       */
      optionDescription(option) {
        const extraInfo = [];
        if (option.argChoices) {
          extraInfo.push(
            // use stringify to match the display of the default value
            `choices: ${option.argChoices.map((choice) => JSON.stringify(choice)).join(", ")}`
          );
        }
        if (option.defaultValue !== void 0) {
          const showDefault = option.required || option.optional || option.isBoolean() && typeof option.defaultValue === "boolean";
          if (showDefault) {
            extraInfo.push(
              `default: ${option.defaultValueDescription || JSON.stringify(option.defaultValue)}`
            );
          }
        }
        if (option.presetArg !== void 0 && option.optional) {
          extraInfo.push(`preset: ${JSON.stringify(option.presetArg)}`);
        }
        if (option.envVar !== void 0) {
          extraInfo.push(`env: ${option.envVar}`);
        }
        if (extraInfo.length > 0) {
          const extraDescription = `(${extraInfo.join(", ")})`;
          if (option.description) {
            return `${option.description} ${extraDescription}`;
          }
          return extraDescription;
        }
        return option.description;
      }
      /**
       * Get the argument description to show in the list of arguments.
       *
       * @param {Argument} argument
       * @return {string}
       */
      argumentDescription(argument) {
        const extraInfo = [];
        if (argument.argChoices) {
          extraInfo.push(
            // use stringify to match the display of the default value
            `choices: ${argument.argChoices.map((choice) => JSON.stringify(choice)).join(", ")}`
          );
        }
        if (argument.defaultValue !== void 0) {
          extraInfo.push(
            `default: ${argument.defaultValueDescription || JSON.stringify(argument.defaultValue)}`
          );
        }
        if (extraInfo.length > 0) {
          const extraDescription = `(${extraInfo.join(", ")})`;
          if (argument.description) {
            return `${argument.description} ${extraDescription}`;
          }
          return extraDescription;
        }
        return argument.description;
      }
      /**
       * Format a list of items, given a heading and an array of formatted items.
       *
       * @param {string} heading
       * @param {string[]} items
       * @param {Help} helper
       * @returns string[]
       */
      formatItemList(heading, items, helper) {
        if (items.length === 0) return [];
        return [helper.styleTitle(heading), ...items, ""];
      }
      /**
       * Group items by their help group heading.
       *
       * @param {Command[] | Option[]} unsortedItems
       * @param {Command[] | Option[]} visibleItems
       * @param {Function} getGroup
       * @returns {Map<string, Command[] | Option[]>}
       */
      groupItems(unsortedItems, visibleItems, getGroup) {
        const result = /* @__PURE__ */ new Map();
        unsortedItems.forEach((item) => {
          const group = getGroup(item);
          if (!result.has(group)) result.set(group, []);
        });
        visibleItems.forEach((item) => {
          const group = getGroup(item);
          if (!result.has(group)) {
            result.set(group, []);
          }
          result.get(group).push(item);
        });
        return result;
      }
      /**
       * Generate the built-in help text.
       *
       * @param {Command} cmd
       * @param {Help} helper
       * @returns {string}
       */
      formatHelp(cmd, helper) {
        const termWidth = helper.padWidth(cmd, helper);
        const helpWidth = helper.helpWidth ?? 80;
        function callFormatItem(term, description) {
          return helper.formatItem(term, termWidth, description, helper);
        }
        let output = [
          `${helper.styleTitle("Usage:")} ${helper.styleUsage(helper.commandUsage(cmd))}`,
          ""
        ];
        const commandDescription = helper.commandDescription(cmd);
        if (commandDescription.length > 0) {
          output = output.concat([
            helper.boxWrap(
              helper.styleCommandDescription(commandDescription),
              helpWidth
            ),
            ""
          ]);
        }
        const argumentList = helper.visibleArguments(cmd).map((argument) => {
          return callFormatItem(
            helper.styleArgumentTerm(helper.argumentTerm(argument)),
            helper.styleArgumentDescription(helper.argumentDescription(argument))
          );
        });
        output = output.concat(
          this.formatItemList("Arguments:", argumentList, helper)
        );
        const optionGroups = this.groupItems(
          cmd.options,
          helper.visibleOptions(cmd),
          (option) => option.helpGroupHeading ?? "Options:"
        );
        optionGroups.forEach((options, group) => {
          const optionList = options.map((option) => {
            return callFormatItem(
              helper.styleOptionTerm(helper.optionTerm(option)),
              helper.styleOptionDescription(helper.optionDescription(option))
            );
          });
          output = output.concat(this.formatItemList(group, optionList, helper));
        });
        if (helper.showGlobalOptions) {
          const globalOptionList = helper.visibleGlobalOptions(cmd).map((option) => {
            return callFormatItem(
              helper.styleOptionTerm(helper.optionTerm(option)),
              helper.styleOptionDescription(helper.optionDescription(option))
            );
          });
          output = output.concat(
            this.formatItemList("Global Options:", globalOptionList, helper)
          );
        }
        const commandGroups = this.groupItems(
          cmd.commands,
          helper.visibleCommands(cmd),
          (sub) => sub.helpGroup() || "Commands:"
        );
        commandGroups.forEach((commands, group) => {
          const commandList = commands.map((sub) => {
            return callFormatItem(
              helper.styleSubcommandTerm(helper.subcommandTerm(sub)),
              helper.styleSubcommandDescription(helper.subcommandDescription(sub))
            );
          });
          output = output.concat(this.formatItemList(group, commandList, helper));
        });
        return output.join("\n");
      }
      /**
       * Return display width of string, ignoring ANSI escape sequences. Used in padding and wrapping calculations.
       *
       * @param {string} str
       * @returns {number}
       */
      displayWidth(str) {
        return stripColor(str).length;
      }
      /**
       * Style the title for displaying in the help. Called with 'Usage:', 'Options:', etc.
       *
       * @param {string} str
       * @returns {string}
       */
      styleTitle(str) {
        return str;
      }
      styleUsage(str) {
        return str.split(" ").map((word) => {
          if (word === "[options]") return this.styleOptionText(word);
          if (word === "[command]") return this.styleSubcommandText(word);
          if (word[0] === "[" || word[0] === "<")
            return this.styleArgumentText(word);
          return this.styleCommandText(word);
        }).join(" ");
      }
      styleCommandDescription(str) {
        return this.styleDescriptionText(str);
      }
      styleOptionDescription(str) {
        return this.styleDescriptionText(str);
      }
      styleSubcommandDescription(str) {
        return this.styleDescriptionText(str);
      }
      styleArgumentDescription(str) {
        return this.styleDescriptionText(str);
      }
      styleDescriptionText(str) {
        return str;
      }
      styleOptionTerm(str) {
        return this.styleOptionText(str);
      }
      styleSubcommandTerm(str) {
        return str.split(" ").map((word) => {
          if (word === "[options]") return this.styleOptionText(word);
          if (word[0] === "[" || word[0] === "<")
            return this.styleArgumentText(word);
          return this.styleSubcommandText(word);
        }).join(" ");
      }
      styleArgumentTerm(str) {
        return this.styleArgumentText(str);
      }
      styleOptionText(str) {
        return str;
      }
      styleArgumentText(str) {
        return str;
      }
      styleSubcommandText(str) {
        return str;
      }
      styleCommandText(str) {
        return str;
      }
      /**
       * Calculate the pad width from the maximum term length.
       *
       * @param {Command} cmd
       * @param {Help} helper
       * @returns {number}
       */
      padWidth(cmd, helper) {
        return Math.max(
          helper.longestOptionTermLength(cmd, helper),
          helper.longestGlobalOptionTermLength(cmd, helper),
          helper.longestSubcommandTermLength(cmd, helper),
          helper.longestArgumentTermLength(cmd, helper)
        );
      }
      /**
       * Detect manually wrapped and indented strings by checking for line break followed by whitespace.
       *
       * @param {string} str
       * @returns {boolean}
       */
      preformatted(str) {
        return /\n[^\S\r\n]/.test(str);
      }
      /**
       * Format the "item", which consists of a term and description. Pad the term and wrap the description, indenting the following lines.
       *
       * So "TTT", 5, "DDD DDDD DD DDD" might be formatted for this.helpWidth=17 like so:
       *   TTT  DDD DDDD
       *        DD DDD
       *
       * @param {string} term
       * @param {number} termWidth
       * @param {string} description
       * @param {Help} helper
       * @returns {string}
       */
      formatItem(term, termWidth, description, helper) {
        const itemIndent = 2;
        const itemIndentStr = " ".repeat(itemIndent);
        if (!description) return itemIndentStr + term;
        const paddedTerm = term.padEnd(
          termWidth + term.length - helper.displayWidth(term)
        );
        const spacerWidth = 2;
        const helpWidth = this.helpWidth ?? 80;
        const remainingWidth = helpWidth - termWidth - spacerWidth - itemIndent;
        let formattedDescription;
        if (remainingWidth < this.minWidthToWrap || helper.preformatted(description)) {
          formattedDescription = description;
        } else {
          const wrappedDescription = helper.boxWrap(description, remainingWidth);
          formattedDescription = wrappedDescription.replace(
            /\n/g,
            "\n" + " ".repeat(termWidth + spacerWidth)
          );
        }
        return itemIndentStr + paddedTerm + " ".repeat(spacerWidth) + formattedDescription.replace(/\n/g, `
${itemIndentStr}`);
      }
      /**
       * Wrap a string at whitespace, preserving existing line breaks.
       * Wrapping is skipped if the width is less than `minWidthToWrap`.
       *
       * @param {string} str
       * @param {number} width
       * @returns {string}
       */
      boxWrap(str, width) {
        if (width < this.minWidthToWrap) return str;
        const rawLines = str.split(/\r\n|\n/);
        const chunkPattern = /[\s]*[^\s]+/g;
        const wrappedLines = [];
        rawLines.forEach((line) => {
          const chunks = line.match(chunkPattern);
          if (chunks === null) {
            wrappedLines.push("");
            return;
          }
          let sumChunks = [chunks.shift()];
          let sumWidth = this.displayWidth(sumChunks[0]);
          chunks.forEach((chunk) => {
            const visibleWidth = this.displayWidth(chunk);
            if (sumWidth + visibleWidth <= width) {
              sumChunks.push(chunk);
              sumWidth += visibleWidth;
              return;
            }
            wrappedLines.push(sumChunks.join(""));
            const nextChunk = chunk.trimStart();
            sumChunks = [nextChunk];
            sumWidth = this.displayWidth(nextChunk);
          });
          wrappedLines.push(sumChunks.join(""));
        });
        return wrappedLines.join("\n");
      }
    };
    function stripColor(str) {
      const sgrPattern = /\x1b\[\d*(;\d*)*m/g;
      return str.replace(sgrPattern, "");
    }
    exports.Help = Help2;
    exports.stripColor = stripColor;
  }
});

// node_modules/commander/lib/option.js
var require_option = __commonJS({
  "node_modules/commander/lib/option.js"(exports) {
    var { InvalidArgumentError: InvalidArgumentError2 } = require_error();
    var Option2 = class {
      /**
       * Initialize a new `Option` with the given `flags` and `description`.
       *
       * @param {string} flags
       * @param {string} [description]
       */
      constructor(flags, description) {
        this.flags = flags;
        this.description = description || "";
        this.required = flags.includes("<");
        this.optional = flags.includes("[");
        this.variadic = /\w\.\.\.[>\]]$/.test(flags);
        this.mandatory = false;
        const optionFlags = splitOptionFlags(flags);
        this.short = optionFlags.shortFlag;
        this.long = optionFlags.longFlag;
        this.negate = false;
        if (this.long) {
          this.negate = this.long.startsWith("--no-");
        }
        this.defaultValue = void 0;
        this.defaultValueDescription = void 0;
        this.presetArg = void 0;
        this.envVar = void 0;
        this.parseArg = void 0;
        this.hidden = false;
        this.argChoices = void 0;
        this.conflictsWith = [];
        this.implied = void 0;
        this.helpGroupHeading = void 0;
      }
      /**
       * Set the default value, and optionally supply the description to be displayed in the help.
       *
       * @param {*} value
       * @param {string} [description]
       * @return {Option}
       */
      default(value, description) {
        this.defaultValue = value;
        this.defaultValueDescription = description;
        return this;
      }
      /**
       * Preset to use when option used without option-argument, especially optional but also boolean and negated.
       * The custom processing (parseArg) is called.
       *
       * @example
       * new Option('--color').default('GREYSCALE').preset('RGB');
       * new Option('--donate [amount]').preset('20').argParser(parseFloat);
       *
       * @param {*} arg
       * @return {Option}
       */
      preset(arg) {
        this.presetArg = arg;
        return this;
      }
      /**
       * Add option name(s) that conflict with this option.
       * An error will be displayed if conflicting options are found during parsing.
       *
       * @example
       * new Option('--rgb').conflicts('cmyk');
       * new Option('--js').conflicts(['ts', 'jsx']);
       *
       * @param {(string | string[])} names
       * @return {Option}
       */
      conflicts(names2) {
        this.conflictsWith = this.conflictsWith.concat(names2);
        return this;
      }
      /**
       * Specify implied option values for when this option is set and the implied options are not.
       *
       * The custom processing (parseArg) is not called on the implied values.
       *
       * @example
       * program
       *   .addOption(new Option('--log', 'write logging information to file'))
       *   .addOption(new Option('--trace', 'log extra details').implies({ log: 'trace.txt' }));
       *
       * @param {object} impliedOptionValues
       * @return {Option}
       */
      implies(impliedOptionValues) {
        let newImplied = impliedOptionValues;
        if (typeof impliedOptionValues === "string") {
          newImplied = { [impliedOptionValues]: true };
        }
        this.implied = Object.assign(this.implied || {}, newImplied);
        return this;
      }
      /**
       * Set environment variable to check for option value.
       *
       * An environment variable is only used if when processed the current option value is
       * undefined, or the source of the current value is 'default' or 'config' or 'env'.
       *
       * @param {string} name
       * @return {Option}
       */
      env(name) {
        this.envVar = name;
        return this;
      }
      /**
       * Set the custom handler for processing CLI option arguments into option values.
       *
       * @param {Function} [fn]
       * @return {Option}
       */
      argParser(fn) {
        this.parseArg = fn;
        return this;
      }
      /**
       * Whether the option is mandatory and must have a value after parsing.
       *
       * @param {boolean} [mandatory=true]
       * @return {Option}
       */
      makeOptionMandatory(mandatory = true) {
        this.mandatory = !!mandatory;
        return this;
      }
      /**
       * Hide option in help.
       *
       * @param {boolean} [hide=true]
       * @return {Option}
       */
      hideHelp(hide = true) {
        this.hidden = !!hide;
        return this;
      }
      /**
       * @package
       */
      _collectValue(value, previous) {
        if (previous === this.defaultValue || !Array.isArray(previous)) {
          return [value];
        }
        previous.push(value);
        return previous;
      }
      /**
       * Only allow option value to be one of choices.
       *
       * @param {string[]} values
       * @return {Option}
       */
      choices(values) {
        this.argChoices = values.slice();
        this.parseArg = (arg, previous) => {
          if (!this.argChoices.includes(arg)) {
            throw new InvalidArgumentError2(
              `Allowed choices are ${this.argChoices.join(", ")}.`
            );
          }
          if (this.variadic) {
            return this._collectValue(arg, previous);
          }
          return arg;
        };
        return this;
      }
      /**
       * Return option name.
       *
       * @return {string}
       */
      name() {
        if (this.long) {
          return this.long.replace(/^--/, "");
        }
        return this.short.replace(/^-/, "");
      }
      /**
       * Return option name, in a camelcase format that can be used
       * as an object attribute key.
       *
       * @return {string}
       */
      attributeName() {
        if (this.negate) {
          return camelcase(this.name().replace(/^no-/, ""));
        }
        return camelcase(this.name());
      }
      /**
       * Set the help group heading.
       *
       * @param {string} heading
       * @return {Option}
       */
      helpGroup(heading) {
        this.helpGroupHeading = heading;
        return this;
      }
      /**
       * Check if `arg` matches the short or long flag.
       *
       * @param {string} arg
       * @return {boolean}
       * @package
       */
      is(arg) {
        return this.short === arg || this.long === arg;
      }
      /**
       * Return whether a boolean option.
       *
       * Options are one of boolean, negated, required argument, or optional argument.
       *
       * @return {boolean}
       * @package
       */
      isBoolean() {
        return !this.required && !this.optional && !this.negate;
      }
    };
    var DualOptions = class {
      /**
       * @param {Option[]} options
       */
      constructor(options) {
        this.positiveOptions = /* @__PURE__ */ new Map();
        this.negativeOptions = /* @__PURE__ */ new Map();
        this.dualOptions = /* @__PURE__ */ new Set();
        options.forEach((option) => {
          if (option.negate) {
            this.negativeOptions.set(option.attributeName(), option);
          } else {
            this.positiveOptions.set(option.attributeName(), option);
          }
        });
        this.negativeOptions.forEach((value, key) => {
          if (this.positiveOptions.has(key)) {
            this.dualOptions.add(key);
          }
        });
      }
      /**
       * Did the value come from the option, and not from possible matching dual option?
       *
       * @param {*} value
       * @param {Option} option
       * @returns {boolean}
       */
      valueFromOption(value, option) {
        const optionKey = option.attributeName();
        if (!this.dualOptions.has(optionKey)) return true;
        const preset = this.negativeOptions.get(optionKey).presetArg;
        const negativeValue = preset !== void 0 ? preset : false;
        return option.negate === (negativeValue === value);
      }
    };
    function camelcase(str) {
      return str.split("-").reduce((str2, word) => {
        return str2 + word[0].toUpperCase() + word.slice(1);
      });
    }
    function splitOptionFlags(flags) {
      let shortFlag;
      let longFlag;
      const shortFlagExp = /^-[^-]$/;
      const longFlagExp = /^--[^-]/;
      const flagParts = flags.split(/[ |,]+/).concat("guard");
      if (shortFlagExp.test(flagParts[0])) shortFlag = flagParts.shift();
      if (longFlagExp.test(flagParts[0])) longFlag = flagParts.shift();
      if (!shortFlag && shortFlagExp.test(flagParts[0]))
        shortFlag = flagParts.shift();
      if (!shortFlag && longFlagExp.test(flagParts[0])) {
        shortFlag = longFlag;
        longFlag = flagParts.shift();
      }
      if (flagParts[0].startsWith("-")) {
        const unsupportedFlag = flagParts[0];
        const baseError = `option creation failed due to '${unsupportedFlag}' in option flags '${flags}'`;
        if (/^-[^-][^-]/.test(unsupportedFlag))
          throw new Error(
            `${baseError}
- a short flag is a single dash and a single character
  - either use a single dash and a single character (for a short flag)
  - or use a double dash for a long option (and can have two, like '--ws, --workspace')`
          );
        if (shortFlagExp.test(unsupportedFlag))
          throw new Error(`${baseError}
- too many short flags`);
        if (longFlagExp.test(unsupportedFlag))
          throw new Error(`${baseError}
- too many long flags`);
        throw new Error(`${baseError}
- unrecognised flag format`);
      }
      if (shortFlag === void 0 && longFlag === void 0)
        throw new Error(
          `option creation failed due to no flags found in '${flags}'.`
        );
      return { shortFlag, longFlag };
    }
    exports.Option = Option2;
    exports.DualOptions = DualOptions;
  }
});

// node_modules/commander/lib/suggestSimilar.js
var require_suggestSimilar = __commonJS({
  "node_modules/commander/lib/suggestSimilar.js"(exports) {
    var maxDistance = 3;
    function editDistance(a, b) {
      if (Math.abs(a.length - b.length) > maxDistance)
        return Math.max(a.length, b.length);
      const d = [];
      for (let i = 0; i <= a.length; i++) {
        d[i] = [i];
      }
      for (let j = 0; j <= b.length; j++) {
        d[0][j] = j;
      }
      for (let j = 1; j <= b.length; j++) {
        for (let i = 1; i <= a.length; i++) {
          let cost = 1;
          if (a[i - 1] === b[j - 1]) {
            cost = 0;
          } else {
            cost = 1;
          }
          d[i][j] = Math.min(
            d[i - 1][j] + 1,
            // deletion
            d[i][j - 1] + 1,
            // insertion
            d[i - 1][j - 1] + cost
            // substitution
          );
          if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
            d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
          }
        }
      }
      return d[a.length][b.length];
    }
    function suggestSimilar(word, candidates) {
      if (!candidates || candidates.length === 0) return "";
      candidates = Array.from(new Set(candidates));
      const searchingOptions = word.startsWith("--");
      if (searchingOptions) {
        word = word.slice(2);
        candidates = candidates.map((candidate) => candidate.slice(2));
      }
      let similar = [];
      let bestDistance = maxDistance;
      const minSimilarity = 0.4;
      candidates.forEach((candidate) => {
        if (candidate.length <= 1) return;
        const distance = editDistance(word, candidate);
        const length = Math.max(word.length, candidate.length);
        const similarity = (length - distance) / length;
        if (similarity > minSimilarity) {
          if (distance < bestDistance) {
            bestDistance = distance;
            similar = [candidate];
          } else if (distance === bestDistance) {
            similar.push(candidate);
          }
        }
      });
      similar.sort((a, b) => a.localeCompare(b));
      if (searchingOptions) {
        similar = similar.map((candidate) => `--${candidate}`);
      }
      if (similar.length > 1) {
        return `
(Did you mean one of ${similar.join(", ")}?)`;
      }
      if (similar.length === 1) {
        return `
(Did you mean ${similar[0]}?)`;
      }
      return "";
    }
    exports.suggestSimilar = suggestSimilar;
  }
});

// node_modules/commander/lib/command.js
var require_command = __commonJS({
  "node_modules/commander/lib/command.js"(exports) {
    var EventEmitter = __require("node:events").EventEmitter;
    var childProcess = require_none();
    var path = __require("node:path");
    var fs = __require("node:fs");
    var process2 = __require("node:process");
    var { Argument: Argument2, humanReadableArgName } = require_argument();
    var { CommanderError: CommanderError2 } = require_error();
    var { Help: Help2, stripColor } = require_help();
    var { Option: Option2, DualOptions } = require_option();
    var { suggestSimilar } = require_suggestSimilar();
    var Command2 = class _Command extends EventEmitter {
      /**
       * Initialize a new `Command`.
       *
       * @param {string} [name]
       */
      constructor(name) {
        super();
        this.commands = [];
        this.options = [];
        this.parent = null;
        this._allowUnknownOption = false;
        this._allowExcessArguments = false;
        this.registeredArguments = [];
        this._args = this.registeredArguments;
        this.args = [];
        this.rawArgs = [];
        this.processedArgs = [];
        this._scriptPath = null;
        this._name = name || "";
        this._optionValues = {};
        this._optionValueSources = {};
        this._storeOptionsAsProperties = false;
        this._actionHandler = null;
        this._executableHandler = false;
        this._executableFile = null;
        this._executableDir = null;
        this._defaultCommandName = null;
        this._exitCallback = null;
        this._aliases = [];
        this._combineFlagAndOptionalValue = true;
        this._description = "";
        this._summary = "";
        this._argsDescription = void 0;
        this._enablePositionalOptions = false;
        this._passThroughOptions = false;
        this._lifeCycleHooks = {};
        this._showHelpAfterError = false;
        this._showSuggestionAfterError = true;
        this._savedState = null;
        this._outputConfiguration = {
          writeOut: (str) => process2.stdout.write(str),
          writeErr: (str) => process2.stderr.write(str),
          outputError: (str, write3) => write3(str),
          getOutHelpWidth: () => process2.stdout.isTTY ? process2.stdout.columns : void 0,
          getErrHelpWidth: () => process2.stderr.isTTY ? process2.stderr.columns : void 0,
          getOutHasColors: () => useColor() ?? (process2.stdout.isTTY && process2.stdout.hasColors?.()),
          getErrHasColors: () => useColor() ?? (process2.stderr.isTTY && process2.stderr.hasColors?.()),
          stripColor: (str) => stripColor(str)
        };
        this._hidden = false;
        this._helpOption = void 0;
        this._addImplicitHelpCommand = void 0;
        this._helpCommand = void 0;
        this._helpConfiguration = {};
        this._helpGroupHeading = void 0;
        this._defaultCommandGroup = void 0;
        this._defaultOptionGroup = void 0;
      }
      /**
       * Copy settings that are useful to have in common across root command and subcommands.
       *
       * (Used internally when adding a command using `.command()` so subcommands inherit parent settings.)
       *
       * @param {Command} sourceCommand
       * @return {Command} `this` command for chaining
       */
      copyInheritedSettings(sourceCommand) {
        this._outputConfiguration = sourceCommand._outputConfiguration;
        this._helpOption = sourceCommand._helpOption;
        this._helpCommand = sourceCommand._helpCommand;
        this._helpConfiguration = sourceCommand._helpConfiguration;
        this._exitCallback = sourceCommand._exitCallback;
        this._storeOptionsAsProperties = sourceCommand._storeOptionsAsProperties;
        this._combineFlagAndOptionalValue = sourceCommand._combineFlagAndOptionalValue;
        this._allowExcessArguments = sourceCommand._allowExcessArguments;
        this._enablePositionalOptions = sourceCommand._enablePositionalOptions;
        this._showHelpAfterError = sourceCommand._showHelpAfterError;
        this._showSuggestionAfterError = sourceCommand._showSuggestionAfterError;
        return this;
      }
      /**
       * @returns {Command[]}
       * @private
       */
      _getCommandAndAncestors() {
        const result = [];
        for (let command = this; command; command = command.parent) {
          result.push(command);
        }
        return result;
      }
      /**
       * Define a command.
       *
       * There are two styles of command: pay attention to where to put the description.
       *
       * @example
       * // Command implemented using action handler (description is supplied separately to `.command`)
       * program
       *   .command('clone <source> [destination]')
       *   .description('clone a repository into a newly created directory')
       *   .action((source, destination) => {
       *     console.log('clone command called');
       *   });
       *
       * // Command implemented using separate executable file (description is second parameter to `.command`)
       * program
       *   .command('start <service>', 'start named service')
       *   .command('stop [service]', 'stop named service, or all if no name supplied');
       *
       * @param {string} nameAndArgs - command name and arguments, args are `<required>` or `[optional]` and last may also be `variadic...`
       * @param {(object | string)} [actionOptsOrExecDesc] - configuration options (for action), or description (for executable)
       * @param {object} [execOpts] - configuration options (for executable)
       * @return {Command} returns new command for action handler, or `this` for executable command
       */
      command(nameAndArgs, actionOptsOrExecDesc, execOpts) {
        let desc = actionOptsOrExecDesc;
        let opts = execOpts;
        if (typeof desc === "object" && desc !== null) {
          opts = desc;
          desc = null;
        }
        opts = opts || {};
        const [, name, args] = nameAndArgs.match(/([^ ]+) *(.*)/);
        const cmd = this.createCommand(name);
        if (desc) {
          cmd.description(desc);
          cmd._executableHandler = true;
        }
        if (opts.isDefault) this._defaultCommandName = cmd._name;
        cmd._hidden = !!(opts.noHelp || opts.hidden);
        cmd._executableFile = opts.executableFile || null;
        if (args) cmd.arguments(args);
        this._registerCommand(cmd);
        cmd.parent = this;
        cmd.copyInheritedSettings(this);
        if (desc) return this;
        return cmd;
      }
      /**
       * Factory routine to create a new unattached command.
       *
       * See .command() for creating an attached subcommand, which uses this routine to
       * create the command. You can override createCommand to customise subcommands.
       *
       * @param {string} [name]
       * @return {Command} new command
       */
      createCommand(name) {
        return new _Command(name);
      }
      /**
       * You can customise the help with a subclass of Help by overriding createHelp,
       * or by overriding Help properties using configureHelp().
       *
       * @return {Help}
       */
      createHelp() {
        return Object.assign(new Help2(), this.configureHelp());
      }
      /**
       * You can customise the help by overriding Help properties using configureHelp(),
       * or with a subclass of Help by overriding createHelp().
       *
       * @param {object} [configuration] - configuration options
       * @return {(Command | object)} `this` command for chaining, or stored configuration
       */
      configureHelp(configuration) {
        if (configuration === void 0) return this._helpConfiguration;
        this._helpConfiguration = configuration;
        return this;
      }
      /**
       * The default output goes to stdout and stderr. You can customise this for special
       * applications. You can also customise the display of errors by overriding outputError.
       *
       * The configuration properties are all functions:
       *
       *     // change how output being written, defaults to stdout and stderr
       *     writeOut(str)
       *     writeErr(str)
       *     // change how output being written for errors, defaults to writeErr
       *     outputError(str, write) // used for displaying errors and not used for displaying help
       *     // specify width for wrapping help
       *     getOutHelpWidth()
       *     getErrHelpWidth()
       *     // color support, currently only used with Help
       *     getOutHasColors()
       *     getErrHasColors()
       *     stripColor() // used to remove ANSI escape codes if output does not have colors
       *
       * @param {object} [configuration] - configuration options
       * @return {(Command | object)} `this` command for chaining, or stored configuration
       */
      configureOutput(configuration) {
        if (configuration === void 0) return this._outputConfiguration;
        this._outputConfiguration = {
          ...this._outputConfiguration,
          ...configuration
        };
        return this;
      }
      /**
       * Display the help or a custom message after an error occurs.
       *
       * @param {(boolean|string)} [displayHelp]
       * @return {Command} `this` command for chaining
       */
      showHelpAfterError(displayHelp = true) {
        if (typeof displayHelp !== "string") displayHelp = !!displayHelp;
        this._showHelpAfterError = displayHelp;
        return this;
      }
      /**
       * Display suggestion of similar commands for unknown commands, or options for unknown options.
       *
       * @param {boolean} [displaySuggestion]
       * @return {Command} `this` command for chaining
       */
      showSuggestionAfterError(displaySuggestion = true) {
        this._showSuggestionAfterError = !!displaySuggestion;
        return this;
      }
      /**
       * Add a prepared subcommand.
       *
       * See .command() for creating an attached subcommand which inherits settings from its parent.
       *
       * @param {Command} cmd - new subcommand
       * @param {object} [opts] - configuration options
       * @return {Command} `this` command for chaining
       */
      addCommand(cmd, opts) {
        if (!cmd._name) {
          throw new Error(`Command passed to .addCommand() must have a name
- specify the name in Command constructor or using .name()`);
        }
        opts = opts || {};
        if (opts.isDefault) this._defaultCommandName = cmd._name;
        if (opts.noHelp || opts.hidden) cmd._hidden = true;
        this._registerCommand(cmd);
        cmd.parent = this;
        cmd._checkForBrokenPassThrough();
        return this;
      }
      /**
       * Factory routine to create a new unattached argument.
       *
       * See .argument() for creating an attached argument, which uses this routine to
       * create the argument. You can override createArgument to return a custom argument.
       *
       * @param {string} name
       * @param {string} [description]
       * @return {Argument} new argument
       */
      createArgument(name, description) {
        return new Argument2(name, description);
      }
      /**
       * Define argument syntax for command.
       *
       * The default is that the argument is required, and you can explicitly
       * indicate this with <> around the name. Put [] around the name for an optional argument.
       *
       * @example
       * program.argument('<input-file>');
       * program.argument('[output-file]');
       *
       * @param {string} name
       * @param {string} [description]
       * @param {(Function|*)} [parseArg] - custom argument processing function or default value
       * @param {*} [defaultValue]
       * @return {Command} `this` command for chaining
       */
      argument(name, description, parseArg, defaultValue) {
        const argument = this.createArgument(name, description);
        if (typeof parseArg === "function") {
          argument.default(defaultValue).argParser(parseArg);
        } else {
          argument.default(parseArg);
        }
        this.addArgument(argument);
        return this;
      }
      /**
       * Define argument syntax for command, adding multiple at once (without descriptions).
       *
       * See also .argument().
       *
       * @example
       * program.arguments('<cmd> [env]');
       *
       * @param {string} names
       * @return {Command} `this` command for chaining
       */
      arguments(names2) {
        names2.trim().split(/ +/).forEach((detail) => {
          this.argument(detail);
        });
        return this;
      }
      /**
       * Define argument syntax for command, adding a prepared argument.
       *
       * @param {Argument} argument
       * @return {Command} `this` command for chaining
       */
      addArgument(argument) {
        const previousArgument = this.registeredArguments.slice(-1)[0];
        if (previousArgument?.variadic) {
          throw new Error(
            `only the last argument can be variadic '${previousArgument.name()}'`
          );
        }
        if (argument.required && argument.defaultValue !== void 0 && argument.parseArg === void 0) {
          throw new Error(
            `a default value for a required argument is never used: '${argument.name()}'`
          );
        }
        this.registeredArguments.push(argument);
        return this;
      }
      /**
       * Customise or override default help command. By default a help command is automatically added if your command has subcommands.
       *
       * @example
       *    program.helpCommand('help [cmd]');
       *    program.helpCommand('help [cmd]', 'show help');
       *    program.helpCommand(false); // suppress default help command
       *    program.helpCommand(true); // add help command even if no subcommands
       *
       * @param {string|boolean} enableOrNameAndArgs - enable with custom name and/or arguments, or boolean to override whether added
       * @param {string} [description] - custom description
       * @return {Command} `this` command for chaining
       */
      helpCommand(enableOrNameAndArgs, description) {
        if (typeof enableOrNameAndArgs === "boolean") {
          this._addImplicitHelpCommand = enableOrNameAndArgs;
          if (enableOrNameAndArgs && this._defaultCommandGroup) {
            this._initCommandGroup(this._getHelpCommand());
          }
          return this;
        }
        const nameAndArgs = enableOrNameAndArgs ?? "help [command]";
        const [, helpName, helpArgs] = nameAndArgs.match(/([^ ]+) *(.*)/);
        const helpDescription = description ?? "display help for command";
        const helpCommand = this.createCommand(helpName);
        helpCommand.helpOption(false);
        if (helpArgs) helpCommand.arguments(helpArgs);
        if (helpDescription) helpCommand.description(helpDescription);
        this._addImplicitHelpCommand = true;
        this._helpCommand = helpCommand;
        if (enableOrNameAndArgs || description) this._initCommandGroup(helpCommand);
        return this;
      }
      /**
       * Add prepared custom help command.
       *
       * @param {(Command|string|boolean)} helpCommand - custom help command, or deprecated enableOrNameAndArgs as for `.helpCommand()`
       * @param {string} [deprecatedDescription] - deprecated custom description used with custom name only
       * @return {Command} `this` command for chaining
       */
      addHelpCommand(helpCommand, deprecatedDescription) {
        if (typeof helpCommand !== "object") {
          this.helpCommand(helpCommand, deprecatedDescription);
          return this;
        }
        this._addImplicitHelpCommand = true;
        this._helpCommand = helpCommand;
        this._initCommandGroup(helpCommand);
        return this;
      }
      /**
       * Lazy create help command.
       *
       * @return {(Command|null)}
       * @package
       */
      _getHelpCommand() {
        const hasImplicitHelpCommand = this._addImplicitHelpCommand ?? (this.commands.length && !this._actionHandler && !this._findCommand("help"));
        if (hasImplicitHelpCommand) {
          if (this._helpCommand === void 0) {
            this.helpCommand(void 0, void 0);
          }
          return this._helpCommand;
        }
        return null;
      }
      /**
       * Add hook for life cycle event.
       *
       * @param {string} event
       * @param {Function} listener
       * @return {Command} `this` command for chaining
       */
      hook(event, listener) {
        const allowedValues = ["preSubcommand", "preAction", "postAction"];
        if (!allowedValues.includes(event)) {
          throw new Error(`Unexpected value for event passed to hook : '${event}'.
Expecting one of '${allowedValues.join("', '")}'`);
        }
        if (this._lifeCycleHooks[event]) {
          this._lifeCycleHooks[event].push(listener);
        } else {
          this._lifeCycleHooks[event] = [listener];
        }
        return this;
      }
      /**
       * Register callback to use as replacement for calling process.exit.
       *
       * @param {Function} [fn] optional callback which will be passed a CommanderError, defaults to throwing
       * @return {Command} `this` command for chaining
       */
      exitOverride(fn) {
        if (fn) {
          this._exitCallback = fn;
        } else {
          this._exitCallback = (err) => {
            if (err.code !== "commander.executeSubCommandAsync") {
              throw err;
            } else {
            }
          };
        }
        return this;
      }
      /**
       * Call process.exit, and _exitCallback if defined.
       *
       * @param {number} exitCode exit code for using with process.exit
       * @param {string} code an id string representing the error
       * @param {string} message human-readable description of the error
       * @return never
       * @private
       */
      _exit(exitCode, code, message2) {
        if (this._exitCallback) {
          this._exitCallback(new CommanderError2(exitCode, code, message2));
        }
        process2.exit(exitCode);
      }
      /**
       * Register callback `fn` for the command.
       *
       * @example
       * program
       *   .command('serve')
       *   .description('start service')
       *   .action(function() {
       *      // do work here
       *   });
       *
       * @param {Function} fn
       * @return {Command} `this` command for chaining
       */
      action(fn) {
        const listener = (args) => {
          const expectedArgsCount = this.registeredArguments.length;
          const actionArgs = args.slice(0, expectedArgsCount);
          if (this._storeOptionsAsProperties) {
            actionArgs[expectedArgsCount] = this;
          } else {
            actionArgs[expectedArgsCount] = this.opts();
          }
          actionArgs.push(this);
          return fn.apply(this, actionArgs);
        };
        this._actionHandler = listener;
        return this;
      }
      /**
       * Factory routine to create a new unattached option.
       *
       * See .option() for creating an attached option, which uses this routine to
       * create the option. You can override createOption to return a custom option.
       *
       * @param {string} flags
       * @param {string} [description]
       * @return {Option} new option
       */
      createOption(flags, description) {
        return new Option2(flags, description);
      }
      /**
       * Wrap parseArgs to catch 'commander.invalidArgument'.
       *
       * @param {(Option | Argument)} target
       * @param {string} value
       * @param {*} previous
       * @param {string} invalidArgumentMessage
       * @private
       */
      _callParseArg(target, value, previous, invalidArgumentMessage) {
        try {
          return target.parseArg(value, previous);
        } catch (err) {
          if (err.code === "commander.invalidArgument") {
            const message2 = `${invalidArgumentMessage} ${err.message}`;
            this.error(message2, { exitCode: err.exitCode, code: err.code });
          }
          throw err;
        }
      }
      /**
       * Check for option flag conflicts.
       * Register option if no conflicts found, or throw on conflict.
       *
       * @param {Option} option
       * @private
       */
      _registerOption(option) {
        const matchingOption = option.short && this._findOption(option.short) || option.long && this._findOption(option.long);
        if (matchingOption) {
          const matchingFlag = option.long && this._findOption(option.long) ? option.long : option.short;
          throw new Error(`Cannot add option '${option.flags}'${this._name && ` to command '${this._name}'`} due to conflicting flag '${matchingFlag}'
-  already used by option '${matchingOption.flags}'`);
        }
        this._initOptionGroup(option);
        this.options.push(option);
      }
      /**
       * Check for command name and alias conflicts with existing commands.
       * Register command if no conflicts found, or throw on conflict.
       *
       * @param {Command} command
       * @private
       */
      _registerCommand(command) {
        const knownBy = (cmd) => {
          return [cmd.name()].concat(cmd.aliases());
        };
        const alreadyUsed = knownBy(command).find(
          (name) => this._findCommand(name)
        );
        if (alreadyUsed) {
          const existingCmd = knownBy(this._findCommand(alreadyUsed)).join("|");
          const newCmd = knownBy(command).join("|");
          throw new Error(
            `cannot add command '${newCmd}' as already have command '${existingCmd}'`
          );
        }
        this._initCommandGroup(command);
        this.commands.push(command);
      }
      /**
       * Add an option.
       *
       * @param {Option} option
       * @return {Command} `this` command for chaining
       */
      addOption(option) {
        this._registerOption(option);
        const oname = option.name();
        const name = option.attributeName();
        if (option.negate) {
          const positiveLongFlag = option.long.replace(/^--no-/, "--");
          if (!this._findOption(positiveLongFlag)) {
            this.setOptionValueWithSource(
              name,
              option.defaultValue === void 0 ? true : option.defaultValue,
              "default"
            );
          }
        } else if (option.defaultValue !== void 0) {
          this.setOptionValueWithSource(name, option.defaultValue, "default");
        }
        const handleOptionValue = (val, invalidValueMessage, valueSource) => {
          if (val == null && option.presetArg !== void 0) {
            val = option.presetArg;
          }
          const oldValue = this.getOptionValue(name);
          if (val !== null && option.parseArg) {
            val = this._callParseArg(option, val, oldValue, invalidValueMessage);
          } else if (val !== null && option.variadic) {
            val = option._collectValue(val, oldValue);
          }
          if (val == null) {
            if (option.negate) {
              val = false;
            } else if (option.isBoolean() || option.optional) {
              val = true;
            } else {
              val = "";
            }
          }
          this.setOptionValueWithSource(name, val, valueSource);
        };
        this.on("option:" + oname, (val) => {
          const invalidValueMessage = `error: option '${option.flags}' argument '${val}' is invalid.`;
          handleOptionValue(val, invalidValueMessage, "cli");
        });
        if (option.envVar) {
          this.on("optionEnv:" + oname, (val) => {
            const invalidValueMessage = `error: option '${option.flags}' value '${val}' from env '${option.envVar}' is invalid.`;
            handleOptionValue(val, invalidValueMessage, "env");
          });
        }
        return this;
      }
      /**
       * Internal implementation shared by .option() and .requiredOption()
       *
       * @return {Command} `this` command for chaining
       * @private
       */
      _optionEx(config, flags, description, fn, defaultValue) {
        if (typeof flags === "object" && flags instanceof Option2) {
          throw new Error(
            "To add an Option object use addOption() instead of option() or requiredOption()"
          );
        }
        const option = this.createOption(flags, description);
        option.makeOptionMandatory(!!config.mandatory);
        if (typeof fn === "function") {
          option.default(defaultValue).argParser(fn);
        } else if (fn instanceof RegExp) {
          const regex = fn;
          fn = (val, def) => {
            const m = regex.exec(val);
            return m ? m[0] : def;
          };
          option.default(defaultValue).argParser(fn);
        } else {
          option.default(fn);
        }
        return this.addOption(option);
      }
      /**
       * Define option with `flags`, `description`, and optional argument parsing function or `defaultValue` or both.
       *
       * The `flags` string contains the short and/or long flags, separated by comma, a pipe or space. A required
       * option-argument is indicated by `<>` and an optional option-argument by `[]`.
       *
       * See the README for more details, and see also addOption() and requiredOption().
       *
       * @example
       * program
       *     .option('-p, --pepper', 'add pepper')
       *     .option('--pt, --pizza-type <TYPE>', 'type of pizza') // required option-argument
       *     .option('-c, --cheese [CHEESE]', 'add extra cheese', 'mozzarella') // optional option-argument with default
       *     .option('-t, --tip <VALUE>', 'add tip to purchase cost', parseFloat) // custom parse function
       *
       * @param {string} flags
       * @param {string} [description]
       * @param {(Function|*)} [parseArg] - custom option processing function or default value
       * @param {*} [defaultValue]
       * @return {Command} `this` command for chaining
       */
      option(flags, description, parseArg, defaultValue) {
        return this._optionEx({}, flags, description, parseArg, defaultValue);
      }
      /**
       * Add a required option which must have a value after parsing. This usually means
       * the option must be specified on the command line. (Otherwise the same as .option().)
       *
       * The `flags` string contains the short and/or long flags, separated by comma, a pipe or space.
       *
       * @param {string} flags
       * @param {string} [description]
       * @param {(Function|*)} [parseArg] - custom option processing function or default value
       * @param {*} [defaultValue]
       * @return {Command} `this` command for chaining
       */
      requiredOption(flags, description, parseArg, defaultValue) {
        return this._optionEx(
          { mandatory: true },
          flags,
          description,
          parseArg,
          defaultValue
        );
      }
      /**
       * Alter parsing of short flags with optional values.
       *
       * @example
       * // for `.option('-f,--flag [value]'):
       * program.combineFlagAndOptionalValue(true);  // `-f80` is treated like `--flag=80`, this is the default behaviour
       * program.combineFlagAndOptionalValue(false) // `-fb` is treated like `-f -b`
       *
       * @param {boolean} [combine] - if `true` or omitted, an optional value can be specified directly after the flag.
       * @return {Command} `this` command for chaining
       */
      combineFlagAndOptionalValue(combine = true) {
        this._combineFlagAndOptionalValue = !!combine;
        return this;
      }
      /**
       * Allow unknown options on the command line.
       *
       * @param {boolean} [allowUnknown] - if `true` or omitted, no error will be thrown for unknown options.
       * @return {Command} `this` command for chaining
       */
      allowUnknownOption(allowUnknown = true) {
        this._allowUnknownOption = !!allowUnknown;
        return this;
      }
      /**
       * Allow excess command-arguments on the command line. Pass false to make excess arguments an error.
       *
       * @param {boolean} [allowExcess] - if `true` or omitted, no error will be thrown for excess arguments.
       * @return {Command} `this` command for chaining
       */
      allowExcessArguments(allowExcess = true) {
        this._allowExcessArguments = !!allowExcess;
        return this;
      }
      /**
       * Enable positional options. Positional means global options are specified before subcommands which lets
       * subcommands reuse the same option names, and also enables subcommands to turn on passThroughOptions.
       * The default behaviour is non-positional and global options may appear anywhere on the command line.
       *
       * @param {boolean} [positional]
       * @return {Command} `this` command for chaining
       */
      enablePositionalOptions(positional = true) {
        this._enablePositionalOptions = !!positional;
        return this;
      }
      /**
       * Pass through options that come after command-arguments rather than treat them as command-options,
       * so actual command-options come before command-arguments. Turning this on for a subcommand requires
       * positional options to have been enabled on the program (parent commands).
       * The default behaviour is non-positional and options may appear before or after command-arguments.
       *
       * @param {boolean} [passThrough] for unknown options.
       * @return {Command} `this` command for chaining
       */
      passThroughOptions(passThrough = true) {
        this._passThroughOptions = !!passThrough;
        this._checkForBrokenPassThrough();
        return this;
      }
      /**
       * @private
       */
      _checkForBrokenPassThrough() {
        if (this.parent && this._passThroughOptions && !this.parent._enablePositionalOptions) {
          throw new Error(
            `passThroughOptions cannot be used for '${this._name}' without turning on enablePositionalOptions for parent command(s)`
          );
        }
      }
      /**
       * Whether to store option values as properties on command object,
       * or store separately (specify false). In both cases the option values can be accessed using .opts().
       *
       * @param {boolean} [storeAsProperties=true]
       * @return {Command} `this` command for chaining
       */
      storeOptionsAsProperties(storeAsProperties = true) {
        if (this.options.length) {
          throw new Error("call .storeOptionsAsProperties() before adding options");
        }
        if (Object.keys(this._optionValues).length) {
          throw new Error(
            "call .storeOptionsAsProperties() before setting option values"
          );
        }
        this._storeOptionsAsProperties = !!storeAsProperties;
        return this;
      }
      /**
       * Retrieve option value.
       *
       * @param {string} key
       * @return {object} value
       */
      getOptionValue(key) {
        if (this._storeOptionsAsProperties) {
          return this[key];
        }
        return this._optionValues[key];
      }
      /**
       * Store option value.
       *
       * @param {string} key
       * @param {object} value
       * @return {Command} `this` command for chaining
       */
      setOptionValue(key, value) {
        return this.setOptionValueWithSource(key, value, void 0);
      }
      /**
       * Store option value and where the value came from.
       *
       * @param {string} key
       * @param {object} value
       * @param {string} source - expected values are default/config/env/cli/implied
       * @return {Command} `this` command for chaining
       */
      setOptionValueWithSource(key, value, source) {
        if (this._storeOptionsAsProperties) {
          this[key] = value;
        } else {
          this._optionValues[key] = value;
        }
        this._optionValueSources[key] = source;
        return this;
      }
      /**
       * Get source of option value.
       * Expected values are default | config | env | cli | implied
       *
       * @param {string} key
       * @return {string}
       */
      getOptionValueSource(key) {
        return this._optionValueSources[key];
      }
      /**
       * Get source of option value. See also .optsWithGlobals().
       * Expected values are default | config | env | cli | implied
       *
       * @param {string} key
       * @return {string}
       */
      getOptionValueSourceWithGlobals(key) {
        let source;
        this._getCommandAndAncestors().forEach((cmd) => {
          if (cmd.getOptionValueSource(key) !== void 0) {
            source = cmd.getOptionValueSource(key);
          }
        });
        return source;
      }
      /**
       * Get user arguments from implied or explicit arguments.
       * Side-effects: set _scriptPath if args included script. Used for default program name, and subcommand searches.
       *
       * @private
       */
      _prepareUserArgs(argv, parseOptions) {
        if (argv !== void 0 && !Array.isArray(argv)) {
          throw new Error("first parameter to parse must be array or undefined");
        }
        parseOptions = parseOptions || {};
        if (argv === void 0 && parseOptions.from === void 0) {
          if (process2.versions?.electron) {
            parseOptions.from = "electron";
          }
          const execArgv = process2.execArgv ?? [];
          if (execArgv.includes("-e") || execArgv.includes("--eval") || execArgv.includes("-p") || execArgv.includes("--print")) {
            parseOptions.from = "eval";
          }
        }
        if (argv === void 0) {
          argv = process2.argv;
        }
        this.rawArgs = argv.slice();
        let userArgs;
        switch (parseOptions.from) {
          case void 0:
          case "node":
            this._scriptPath = argv[1];
            userArgs = argv.slice(2);
            break;
          case "electron":
            if (process2.defaultApp) {
              this._scriptPath = argv[1];
              userArgs = argv.slice(2);
            } else {
              userArgs = argv.slice(1);
            }
            break;
          case "user":
            userArgs = argv.slice(0);
            break;
          case "eval":
            userArgs = argv.slice(1);
            break;
          default:
            throw new Error(
              `unexpected parse option { from: '${parseOptions.from}' }`
            );
        }
        if (!this._name && this._scriptPath)
          this.nameFromFilename(this._scriptPath);
        this._name = this._name || "program";
        return userArgs;
      }
      /**
       * Parse `argv`, setting options and invoking commands when defined.
       *
       * Use parseAsync instead of parse if any of your action handlers are async.
       *
       * Call with no parameters to parse `process.argv`. Detects Electron and special node options like `node --eval`. Easy mode!
       *
       * Or call with an array of strings to parse, and optionally where the user arguments start by specifying where the arguments are `from`:
       * - `'node'`: default, `argv[0]` is the application and `argv[1]` is the script being run, with user arguments after that
       * - `'electron'`: `argv[0]` is the application and `argv[1]` varies depending on whether the electron application is packaged
       * - `'user'`: just user arguments
       *
       * @example
       * program.parse(); // parse process.argv and auto-detect electron and special node flags
       * program.parse(process.argv); // assume argv[0] is app and argv[1] is script
       * program.parse(my-args, { from: 'user' }); // just user supplied arguments, nothing special about argv[0]
       *
       * @param {string[]} [argv] - optional, defaults to process.argv
       * @param {object} [parseOptions] - optionally specify style of options with from: node/user/electron
       * @param {string} [parseOptions.from] - where the args are from: 'node', 'user', 'electron'
       * @return {Command} `this` command for chaining
       */
      parse(argv, parseOptions) {
        this._prepareForParse();
        const userArgs = this._prepareUserArgs(argv, parseOptions);
        this._parseCommand([], userArgs);
        return this;
      }
      /**
       * Parse `argv`, setting options and invoking commands when defined.
       *
       * Call with no parameters to parse `process.argv`. Detects Electron and special node options like `node --eval`. Easy mode!
       *
       * Or call with an array of strings to parse, and optionally where the user arguments start by specifying where the arguments are `from`:
       * - `'node'`: default, `argv[0]` is the application and `argv[1]` is the script being run, with user arguments after that
       * - `'electron'`: `argv[0]` is the application and `argv[1]` varies depending on whether the electron application is packaged
       * - `'user'`: just user arguments
       *
       * @example
       * await program.parseAsync(); // parse process.argv and auto-detect electron and special node flags
       * await program.parseAsync(process.argv); // assume argv[0] is app and argv[1] is script
       * await program.parseAsync(my-args, { from: 'user' }); // just user supplied arguments, nothing special about argv[0]
       *
       * @param {string[]} [argv]
       * @param {object} [parseOptions]
       * @param {string} parseOptions.from - where the args are from: 'node', 'user', 'electron'
       * @return {Promise}
       */
      async parseAsync(argv, parseOptions) {
        this._prepareForParse();
        const userArgs = this._prepareUserArgs(argv, parseOptions);
        await this._parseCommand([], userArgs);
        return this;
      }
      _prepareForParse() {
        if (this._savedState === null) {
          this.saveStateBeforeParse();
        } else {
          this.restoreStateBeforeParse();
        }
      }
      /**
       * Called the first time parse is called to save state and allow a restore before subsequent calls to parse.
       * Not usually called directly, but available for subclasses to save their custom state.
       *
       * This is called in a lazy way. Only commands used in parsing chain will have state saved.
       */
      saveStateBeforeParse() {
        this._savedState = {
          // name is stable if supplied by author, but may be unspecified for root command and deduced during parsing
          _name: this._name,
          // option values before parse have default values (including false for negated options)
          // shallow clones
          _optionValues: { ...this._optionValues },
          _optionValueSources: { ...this._optionValueSources }
        };
      }
      /**
       * Restore state before parse for calls after the first.
       * Not usually called directly, but available for subclasses to save their custom state.
       *
       * This is called in a lazy way. Only commands used in parsing chain will have state restored.
       */
      restoreStateBeforeParse() {
        if (this._storeOptionsAsProperties)
          throw new Error(`Can not call parse again when storeOptionsAsProperties is true.
- either make a new Command for each call to parse, or stop storing options as properties`);
        this._name = this._savedState._name;
        this._scriptPath = null;
        this.rawArgs = [];
        this._optionValues = { ...this._savedState._optionValues };
        this._optionValueSources = { ...this._savedState._optionValueSources };
        this.args = [];
        this.processedArgs = [];
      }
      /**
       * Throw if expected executable is missing. Add lots of help for author.
       *
       * @param {string} executableFile
       * @param {string} executableDir
       * @param {string} subcommandName
       */
      _checkForMissingExecutable(executableFile, executableDir, subcommandName) {
        if (fs.existsSync(executableFile)) return;
        const executableDirMessage = executableDir ? `searched for local subcommand relative to directory '${executableDir}'` : "no directory for search for local subcommand, use .executableDir() to supply a custom directory";
        const executableMissing = `'${executableFile}' does not exist
 - if '${subcommandName}' is not meant to be an executable command, remove description parameter from '.command()' and use '.description()' instead
 - if the default executable name is not suitable, use the executableFile option to supply a custom name or path
 - ${executableDirMessage}`;
        throw new Error(executableMissing);
      }
      /**
       * Execute a sub-command executable.
       *
       * @private
       */
      _executeSubCommand(subcommand, args) {
        args = args.slice();
        let launchWithNode = false;
        const sourceExt = [".js", ".ts", ".tsx", ".mjs", ".cjs"];
        function findFile(baseDir, baseName) {
          const localBin = path.resolve(baseDir, baseName);
          if (fs.existsSync(localBin)) return localBin;
          if (sourceExt.includes(path.extname(baseName))) return void 0;
          const foundExt = sourceExt.find(
            (ext) => fs.existsSync(`${localBin}${ext}`)
          );
          if (foundExt) return `${localBin}${foundExt}`;
          return void 0;
        }
        this._checkForMissingMandatoryOptions();
        this._checkForConflictingOptions();
        let executableFile = subcommand._executableFile || `${this._name}-${subcommand._name}`;
        let executableDir = this._executableDir || "";
        if (this._scriptPath) {
          let resolvedScriptPath;
          try {
            resolvedScriptPath = fs.realpathSync(this._scriptPath);
          } catch {
            resolvedScriptPath = this._scriptPath;
          }
          executableDir = path.resolve(
            path.dirname(resolvedScriptPath),
            executableDir
          );
        }
        if (executableDir) {
          let localFile = findFile(executableDir, executableFile);
          if (!localFile && !subcommand._executableFile && this._scriptPath) {
            const legacyName = path.basename(
              this._scriptPath,
              path.extname(this._scriptPath)
            );
            if (legacyName !== this._name) {
              localFile = findFile(
                executableDir,
                `${legacyName}-${subcommand._name}`
              );
            }
          }
          executableFile = localFile || executableFile;
        }
        launchWithNode = sourceExt.includes(path.extname(executableFile));
        let proc;
        if (process2.platform !== "win32") {
          if (launchWithNode) {
            args.unshift(executableFile);
            args = incrementNodeInspectorPort(process2.execArgv).concat(args);
            proc = childProcess.spawn(process2.argv[0], args, { stdio: "inherit" });
          } else {
            proc = childProcess.spawn(executableFile, args, { stdio: "inherit" });
          }
        } else {
          this._checkForMissingExecutable(
            executableFile,
            executableDir,
            subcommand._name
          );
          args.unshift(executableFile);
          args = incrementNodeInspectorPort(process2.execArgv).concat(args);
          proc = childProcess.spawn(process2.execPath, args, { stdio: "inherit" });
        }
        if (!proc.killed) {
          const signals = ["SIGUSR1", "SIGUSR2", "SIGTERM", "SIGINT", "SIGHUP"];
          signals.forEach((signal) => {
            process2.on(signal, () => {
              if (proc.killed === false && proc.exitCode === null) {
                proc.kill(signal);
              }
            });
          });
        }
        const exitCallback = this._exitCallback;
        proc.on("close", (code) => {
          code = code ?? 1;
          if (!exitCallback) {
            process2.exit(code);
          } else {
            exitCallback(
              new CommanderError2(
                code,
                "commander.executeSubCommandAsync",
                "(close)"
              )
            );
          }
        });
        proc.on("error", (err) => {
          if (err.code === "ENOENT") {
            this._checkForMissingExecutable(
              executableFile,
              executableDir,
              subcommand._name
            );
          } else if (err.code === "EACCES") {
            throw new Error(`'${executableFile}' not executable`);
          }
          if (!exitCallback) {
            process2.exit(1);
          } else {
            const wrappedError = new CommanderError2(
              1,
              "commander.executeSubCommandAsync",
              "(error)"
            );
            wrappedError.nestedError = err;
            exitCallback(wrappedError);
          }
        });
        this.runningCommand = proc;
      }
      /**
       * @private
       */
      _dispatchSubcommand(commandName, operands, unknown) {
        const subCommand = this._findCommand(commandName);
        if (!subCommand) this.help({ error: true });
        subCommand._prepareForParse();
        let promiseChain;
        promiseChain = this._chainOrCallSubCommandHook(
          promiseChain,
          subCommand,
          "preSubcommand"
        );
        promiseChain = this._chainOrCall(promiseChain, () => {
          if (subCommand._executableHandler) {
            this._executeSubCommand(subCommand, operands.concat(unknown));
          } else {
            return subCommand._parseCommand(operands, unknown);
          }
        });
        return promiseChain;
      }
      /**
       * Invoke help directly if possible, or dispatch if necessary.
       * e.g. help foo
       *
       * @private
       */
      _dispatchHelpCommand(subcommandName) {
        if (!subcommandName) {
          this.help();
        }
        const subCommand = this._findCommand(subcommandName);
        if (subCommand && !subCommand._executableHandler) {
          subCommand.help();
        }
        return this._dispatchSubcommand(
          subcommandName,
          [],
          [this._getHelpOption()?.long ?? this._getHelpOption()?.short ?? "--help"]
        );
      }
      /**
       * Check this.args against expected this.registeredArguments.
       *
       * @private
       */
      _checkNumberOfArguments() {
        this.registeredArguments.forEach((arg, i) => {
          if (arg.required && this.args[i] == null) {
            this.missingArgument(arg.name());
          }
        });
        if (this.registeredArguments.length > 0 && this.registeredArguments[this.registeredArguments.length - 1].variadic) {
          return;
        }
        if (this.args.length > this.registeredArguments.length) {
          this._excessArguments(this.args);
        }
      }
      /**
       * Process this.args using this.registeredArguments and save as this.processedArgs!
       *
       * @private
       */
      _processArguments() {
        const myParseArg = (argument, value, previous) => {
          let parsedValue = value;
          if (value !== null && argument.parseArg) {
            const invalidValueMessage = `error: command-argument value '${value}' is invalid for argument '${argument.name()}'.`;
            parsedValue = this._callParseArg(
              argument,
              value,
              previous,
              invalidValueMessage
            );
          }
          return parsedValue;
        };
        this._checkNumberOfArguments();
        const processedArgs = [];
        this.registeredArguments.forEach((declaredArg, index) => {
          let value = declaredArg.defaultValue;
          if (declaredArg.variadic) {
            if (index < this.args.length) {
              value = this.args.slice(index);
              if (declaredArg.parseArg) {
                value = value.reduce((processed, v) => {
                  return myParseArg(declaredArg, v, processed);
                }, declaredArg.defaultValue);
              }
            } else if (value === void 0) {
              value = [];
            }
          } else if (index < this.args.length) {
            value = this.args[index];
            if (declaredArg.parseArg) {
              value = myParseArg(declaredArg, value, declaredArg.defaultValue);
            }
          }
          processedArgs[index] = value;
        });
        this.processedArgs = processedArgs;
      }
      /**
       * Once we have a promise we chain, but call synchronously until then.
       *
       * @param {(Promise|undefined)} promise
       * @param {Function} fn
       * @return {(Promise|undefined)}
       * @private
       */
      _chainOrCall(promise, fn) {
        if (promise?.then && typeof promise.then === "function") {
          return promise.then(() => fn());
        }
        return fn();
      }
      /**
       *
       * @param {(Promise|undefined)} promise
       * @param {string} event
       * @return {(Promise|undefined)}
       * @private
       */
      _chainOrCallHooks(promise, event) {
        let result = promise;
        const hooks = [];
        this._getCommandAndAncestors().reverse().filter((cmd) => cmd._lifeCycleHooks[event] !== void 0).forEach((hookedCommand) => {
          hookedCommand._lifeCycleHooks[event].forEach((callback) => {
            hooks.push({ hookedCommand, callback });
          });
        });
        if (event === "postAction") {
          hooks.reverse();
        }
        hooks.forEach((hookDetail) => {
          result = this._chainOrCall(result, () => {
            return hookDetail.callback(hookDetail.hookedCommand, this);
          });
        });
        return result;
      }
      /**
       *
       * @param {(Promise|undefined)} promise
       * @param {Command} subCommand
       * @param {string} event
       * @return {(Promise|undefined)}
       * @private
       */
      _chainOrCallSubCommandHook(promise, subCommand, event) {
        let result = promise;
        if (this._lifeCycleHooks[event] !== void 0) {
          this._lifeCycleHooks[event].forEach((hook) => {
            result = this._chainOrCall(result, () => {
              return hook(this, subCommand);
            });
          });
        }
        return result;
      }
      /**
       * Process arguments in context of this command.
       * Returns action result, in case it is a promise.
       *
       * @private
       */
      _parseCommand(operands, unknown) {
        const parsed = this.parseOptions(unknown);
        this._parseOptionsEnv();
        this._parseOptionsImplied();
        operands = operands.concat(parsed.operands);
        unknown = parsed.unknown;
        this.args = operands.concat(unknown);
        if (operands && this._findCommand(operands[0])) {
          return this._dispatchSubcommand(operands[0], operands.slice(1), unknown);
        }
        if (this._getHelpCommand() && operands[0] === this._getHelpCommand().name()) {
          return this._dispatchHelpCommand(operands[1]);
        }
        if (this._defaultCommandName) {
          this._outputHelpIfRequested(unknown);
          return this._dispatchSubcommand(
            this._defaultCommandName,
            operands,
            unknown
          );
        }
        if (this.commands.length && this.args.length === 0 && !this._actionHandler && !this._defaultCommandName) {
          this.help({ error: true });
        }
        this._outputHelpIfRequested(parsed.unknown);
        this._checkForMissingMandatoryOptions();
        this._checkForConflictingOptions();
        const checkForUnknownOptions = () => {
          if (parsed.unknown.length > 0) {
            this.unknownOption(parsed.unknown[0]);
          }
        };
        const commandEvent = `command:${this.name()}`;
        if (this._actionHandler) {
          checkForUnknownOptions();
          this._processArguments();
          let promiseChain;
          promiseChain = this._chainOrCallHooks(promiseChain, "preAction");
          promiseChain = this._chainOrCall(
            promiseChain,
            () => this._actionHandler(this.processedArgs)
          );
          if (this.parent) {
            promiseChain = this._chainOrCall(promiseChain, () => {
              this.parent.emit(commandEvent, operands, unknown);
            });
          }
          promiseChain = this._chainOrCallHooks(promiseChain, "postAction");
          return promiseChain;
        }
        if (this.parent?.listenerCount(commandEvent)) {
          checkForUnknownOptions();
          this._processArguments();
          this.parent.emit(commandEvent, operands, unknown);
        } else if (operands.length) {
          if (this._findCommand("*")) {
            return this._dispatchSubcommand("*", operands, unknown);
          }
          if (this.listenerCount("command:*")) {
            this.emit("command:*", operands, unknown);
          } else if (this.commands.length) {
            this.unknownCommand();
          } else {
            checkForUnknownOptions();
            this._processArguments();
          }
        } else if (this.commands.length) {
          checkForUnknownOptions();
          this.help({ error: true });
        } else {
          checkForUnknownOptions();
          this._processArguments();
        }
      }
      /**
       * Find matching command.
       *
       * @private
       * @return {Command | undefined}
       */
      _findCommand(name) {
        if (!name) return void 0;
        return this.commands.find(
          (cmd) => cmd._name === name || cmd._aliases.includes(name)
        );
      }
      /**
       * Return an option matching `arg` if any.
       *
       * @param {string} arg
       * @return {Option}
       * @package
       */
      _findOption(arg) {
        return this.options.find((option) => option.is(arg));
      }
      /**
       * Display an error message if a mandatory option does not have a value.
       * Called after checking for help flags in leaf subcommand.
       *
       * @private
       */
      _checkForMissingMandatoryOptions() {
        this._getCommandAndAncestors().forEach((cmd) => {
          cmd.options.forEach((anOption) => {
            if (anOption.mandatory && cmd.getOptionValue(anOption.attributeName()) === void 0) {
              cmd.missingMandatoryOptionValue(anOption);
            }
          });
        });
      }
      /**
       * Display an error message if conflicting options are used together in this.
       *
       * @private
       */
      _checkForConflictingLocalOptions() {
        const definedNonDefaultOptions = this.options.filter((option) => {
          const optionKey = option.attributeName();
          if (this.getOptionValue(optionKey) === void 0) {
            return false;
          }
          return this.getOptionValueSource(optionKey) !== "default";
        });
        const optionsWithConflicting = definedNonDefaultOptions.filter(
          (option) => option.conflictsWith.length > 0
        );
        optionsWithConflicting.forEach((option) => {
          const conflictingAndDefined = definedNonDefaultOptions.find(
            (defined) => option.conflictsWith.includes(defined.attributeName())
          );
          if (conflictingAndDefined) {
            this._conflictingOption(option, conflictingAndDefined);
          }
        });
      }
      /**
       * Display an error message if conflicting options are used together.
       * Called after checking for help flags in leaf subcommand.
       *
       * @private
       */
      _checkForConflictingOptions() {
        this._getCommandAndAncestors().forEach((cmd) => {
          cmd._checkForConflictingLocalOptions();
        });
      }
      /**
       * Parse options from `argv` removing known options,
       * and return argv split into operands and unknown arguments.
       *
       * Side effects: modifies command by storing options. Does not reset state if called again.
       *
       * Examples:
       *
       *     argv => operands, unknown
       *     --known kkk op => [op], []
       *     op --known kkk => [op], []
       *     sub --unknown uuu op => [sub], [--unknown uuu op]
       *     sub -- --unknown uuu op => [sub --unknown uuu op], []
       *
       * @param {string[]} args
       * @return {{operands: string[], unknown: string[]}}
       */
      parseOptions(args) {
        const operands = [];
        const unknown = [];
        let dest = operands;
        function maybeOption(arg) {
          return arg.length > 1 && arg[0] === "-";
        }
        const negativeNumberArg = (arg) => {
          if (!/^-(\d+|\d*\.\d+)(e[+-]?\d+)?$/.test(arg)) return false;
          return !this._getCommandAndAncestors().some(
            (cmd) => cmd.options.map((opt) => opt.short).some((short) => /^-\d$/.test(short))
          );
        };
        let activeVariadicOption = null;
        let activeGroup = null;
        let i = 0;
        while (i < args.length || activeGroup) {
          const arg = activeGroup ?? args[i++];
          activeGroup = null;
          if (arg === "--") {
            if (dest === unknown) dest.push(arg);
            dest.push(...args.slice(i));
            break;
          }
          if (activeVariadicOption && (!maybeOption(arg) || negativeNumberArg(arg))) {
            this.emit(`option:${activeVariadicOption.name()}`, arg);
            continue;
          }
          activeVariadicOption = null;
          if (maybeOption(arg)) {
            const option = this._findOption(arg);
            if (option) {
              if (option.required) {
                const value = args[i++];
                if (value === void 0) this.optionMissingArgument(option);
                this.emit(`option:${option.name()}`, value);
              } else if (option.optional) {
                let value = null;
                if (i < args.length && (!maybeOption(args[i]) || negativeNumberArg(args[i]))) {
                  value = args[i++];
                }
                this.emit(`option:${option.name()}`, value);
              } else {
                this.emit(`option:${option.name()}`);
              }
              activeVariadicOption = option.variadic ? option : null;
              continue;
            }
          }
          if (arg.length > 2 && arg[0] === "-" && arg[1] !== "-") {
            const option = this._findOption(`-${arg[1]}`);
            if (option) {
              if (option.required || option.optional && this._combineFlagAndOptionalValue) {
                this.emit(`option:${option.name()}`, arg.slice(2));
              } else {
                this.emit(`option:${option.name()}`);
                activeGroup = `-${arg.slice(2)}`;
              }
              continue;
            }
          }
          if (/^--[^=]+=/.test(arg)) {
            const index = arg.indexOf("=");
            const option = this._findOption(arg.slice(0, index));
            if (option && (option.required || option.optional)) {
              this.emit(`option:${option.name()}`, arg.slice(index + 1));
              continue;
            }
          }
          if (dest === operands && maybeOption(arg) && !(this.commands.length === 0 && negativeNumberArg(arg))) {
            dest = unknown;
          }
          if ((this._enablePositionalOptions || this._passThroughOptions) && operands.length === 0 && unknown.length === 0) {
            if (this._findCommand(arg)) {
              operands.push(arg);
              unknown.push(...args.slice(i));
              break;
            } else if (this._getHelpCommand() && arg === this._getHelpCommand().name()) {
              operands.push(arg, ...args.slice(i));
              break;
            } else if (this._defaultCommandName) {
              unknown.push(arg, ...args.slice(i));
              break;
            }
          }
          if (this._passThroughOptions) {
            dest.push(arg, ...args.slice(i));
            break;
          }
          dest.push(arg);
        }
        return { operands, unknown };
      }
      /**
       * Return an object containing local option values as key-value pairs.
       *
       * @return {object}
       */
      opts() {
        if (this._storeOptionsAsProperties) {
          const result = {};
          const len = this.options.length;
          for (let i = 0; i < len; i++) {
            const key = this.options[i].attributeName();
            result[key] = key === this._versionOptionName ? this._version : this[key];
          }
          return result;
        }
        return this._optionValues;
      }
      /**
       * Return an object containing merged local and global option values as key-value pairs.
       *
       * @return {object}
       */
      optsWithGlobals() {
        return this._getCommandAndAncestors().reduce(
          (combinedOptions, cmd) => Object.assign(combinedOptions, cmd.opts()),
          {}
        );
      }
      /**
       * Display error message and exit (or call exitOverride).
       *
       * @param {string} message
       * @param {object} [errorOptions]
       * @param {string} [errorOptions.code] - an id string representing the error
       * @param {number} [errorOptions.exitCode] - used with process.exit
       */
      error(message2, errorOptions) {
        this._outputConfiguration.outputError(
          `${message2}
`,
          this._outputConfiguration.writeErr
        );
        if (typeof this._showHelpAfterError === "string") {
          this._outputConfiguration.writeErr(`${this._showHelpAfterError}
`);
        } else if (this._showHelpAfterError) {
          this._outputConfiguration.writeErr("\n");
          this.outputHelp({ error: true });
        }
        const config = errorOptions || {};
        const exitCode = config.exitCode || 1;
        const code = config.code || "commander.error";
        this._exit(exitCode, code, message2);
      }
      /**
       * Apply any option related environment variables, if option does
       * not have a value from cli or client code.
       *
       * @private
       */
      _parseOptionsEnv() {
        this.options.forEach((option) => {
          if (option.envVar && option.envVar in process2.env) {
            const optionKey = option.attributeName();
            if (this.getOptionValue(optionKey) === void 0 || ["default", "config", "env"].includes(
              this.getOptionValueSource(optionKey)
            )) {
              if (option.required || option.optional) {
                this.emit(`optionEnv:${option.name()}`, process2.env[option.envVar]);
              } else {
                this.emit(`optionEnv:${option.name()}`);
              }
            }
          }
        });
      }
      /**
       * Apply any implied option values, if option is undefined or default value.
       *
       * @private
       */
      _parseOptionsImplied() {
        const dualHelper = new DualOptions(this.options);
        const hasCustomOptionValue = (optionKey) => {
          return this.getOptionValue(optionKey) !== void 0 && !["default", "implied"].includes(this.getOptionValueSource(optionKey));
        };
        this.options.filter(
          (option) => option.implied !== void 0 && hasCustomOptionValue(option.attributeName()) && dualHelper.valueFromOption(
            this.getOptionValue(option.attributeName()),
            option
          )
        ).forEach((option) => {
          Object.keys(option.implied).filter((impliedKey) => !hasCustomOptionValue(impliedKey)).forEach((impliedKey) => {
            this.setOptionValueWithSource(
              impliedKey,
              option.implied[impliedKey],
              "implied"
            );
          });
        });
      }
      /**
       * Argument `name` is missing.
       *
       * @param {string} name
       * @private
       */
      missingArgument(name) {
        const message2 = `error: missing required argument '${name}'`;
        this.error(message2, { code: "commander.missingArgument" });
      }
      /**
       * `Option` is missing an argument.
       *
       * @param {Option} option
       * @private
       */
      optionMissingArgument(option) {
        const message2 = `error: option '${option.flags}' argument missing`;
        this.error(message2, { code: "commander.optionMissingArgument" });
      }
      /**
       * `Option` does not have a value, and is a mandatory option.
       *
       * @param {Option} option
       * @private
       */
      missingMandatoryOptionValue(option) {
        const message2 = `error: required option '${option.flags}' not specified`;
        this.error(message2, { code: "commander.missingMandatoryOptionValue" });
      }
      /**
       * `Option` conflicts with another option.
       *
       * @param {Option} option
       * @param {Option} conflictingOption
       * @private
       */
      _conflictingOption(option, conflictingOption) {
        const findBestOptionFromValue = (option2) => {
          const optionKey = option2.attributeName();
          const optionValue = this.getOptionValue(optionKey);
          const negativeOption = this.options.find(
            (target) => target.negate && optionKey === target.attributeName()
          );
          const positiveOption = this.options.find(
            (target) => !target.negate && optionKey === target.attributeName()
          );
          if (negativeOption && (negativeOption.presetArg === void 0 && optionValue === false || negativeOption.presetArg !== void 0 && optionValue === negativeOption.presetArg)) {
            return negativeOption;
          }
          return positiveOption || option2;
        };
        const getErrorMessage = (option2) => {
          const bestOption = findBestOptionFromValue(option2);
          const optionKey = bestOption.attributeName();
          const source = this.getOptionValueSource(optionKey);
          if (source === "env") {
            return `environment variable '${bestOption.envVar}'`;
          }
          return `option '${bestOption.flags}'`;
        };
        const message2 = `error: ${getErrorMessage(option)} cannot be used with ${getErrorMessage(conflictingOption)}`;
        this.error(message2, { code: "commander.conflictingOption" });
      }
      /**
       * Unknown option `flag`.
       *
       * @param {string} flag
       * @private
       */
      unknownOption(flag) {
        if (this._allowUnknownOption) return;
        let suggestion = "";
        if (flag.startsWith("--") && this._showSuggestionAfterError) {
          let candidateFlags = [];
          let command = this;
          do {
            const moreFlags = command.createHelp().visibleOptions(command).filter((option) => option.long).map((option) => option.long);
            candidateFlags = candidateFlags.concat(moreFlags);
            command = command.parent;
          } while (command && !command._enablePositionalOptions);
          suggestion = suggestSimilar(flag, candidateFlags);
        }
        const message2 = `error: unknown option '${flag}'${suggestion}`;
        this.error(message2, { code: "commander.unknownOption" });
      }
      /**
       * Excess arguments, more than expected.
       *
       * @param {string[]} receivedArgs
       * @private
       */
      _excessArguments(receivedArgs) {
        if (this._allowExcessArguments) return;
        const expected = this.registeredArguments.length;
        const s = expected === 1 ? "" : "s";
        const forSubcommand = this.parent ? ` for '${this.name()}'` : "";
        const message2 = `error: too many arguments${forSubcommand}. Expected ${expected} argument${s} but got ${receivedArgs.length}.`;
        this.error(message2, { code: "commander.excessArguments" });
      }
      /**
       * Unknown command.
       *
       * @private
       */
      unknownCommand() {
        const unknownName = this.args[0];
        let suggestion = "";
        if (this._showSuggestionAfterError) {
          const candidateNames = [];
          this.createHelp().visibleCommands(this).forEach((command) => {
            candidateNames.push(command.name());
            if (command.alias()) candidateNames.push(command.alias());
          });
          suggestion = suggestSimilar(unknownName, candidateNames);
        }
        const message2 = `error: unknown command '${unknownName}'${suggestion}`;
        this.error(message2, { code: "commander.unknownCommand" });
      }
      /**
       * Get or set the program version.
       *
       * This method auto-registers the "-V, --version" option which will print the version number.
       *
       * You can optionally supply the flags and description to override the defaults.
       *
       * @param {string} [str]
       * @param {string} [flags]
       * @param {string} [description]
       * @return {(this | string | undefined)} `this` command for chaining, or version string if no arguments
       */
      version(str, flags, description) {
        if (str === void 0) return this._version;
        this._version = str;
        flags = flags || "-V, --version";
        description = description || "output the version number";
        const versionOption = this.createOption(flags, description);
        this._versionOptionName = versionOption.attributeName();
        this._registerOption(versionOption);
        this.on("option:" + versionOption.name(), () => {
          this._outputConfiguration.writeOut(`${str}
`);
          this._exit(0, "commander.version", str);
        });
        return this;
      }
      /**
       * Set the description.
       *
       * @param {string} [str]
       * @param {object} [argsDescription]
       * @return {(string|Command)}
       */
      description(str, argsDescription) {
        if (str === void 0 && argsDescription === void 0)
          return this._description;
        this._description = str;
        if (argsDescription) {
          this._argsDescription = argsDescription;
        }
        return this;
      }
      /**
       * Set the summary. Used when listed as subcommand of parent.
       *
       * @param {string} [str]
       * @return {(string|Command)}
       */
      summary(str) {
        if (str === void 0) return this._summary;
        this._summary = str;
        return this;
      }
      /**
       * Set an alias for the command.
       *
       * You may call more than once to add multiple aliases. Only the first alias is shown in the auto-generated help.
       *
       * @param {string} [alias]
       * @return {(string|Command)}
       */
      alias(alias) {
        if (alias === void 0) return this._aliases[0];
        let command = this;
        if (this.commands.length !== 0 && this.commands[this.commands.length - 1]._executableHandler) {
          command = this.commands[this.commands.length - 1];
        }
        if (alias === command._name)
          throw new Error("Command alias can't be the same as its name");
        const matchingCommand = this.parent?._findCommand(alias);
        if (matchingCommand) {
          const existingCmd = [matchingCommand.name()].concat(matchingCommand.aliases()).join("|");
          throw new Error(
            `cannot add alias '${alias}' to command '${this.name()}' as already have command '${existingCmd}'`
          );
        }
        command._aliases.push(alias);
        return this;
      }
      /**
       * Set aliases for the command.
       *
       * Only the first alias is shown in the auto-generated help.
       *
       * @param {string[]} [aliases]
       * @return {(string[]|Command)}
       */
      aliases(aliases) {
        if (aliases === void 0) return this._aliases;
        aliases.forEach((alias) => this.alias(alias));
        return this;
      }
      /**
       * Set / get the command usage `str`.
       *
       * @param {string} [str]
       * @return {(string|Command)}
       */
      usage(str) {
        if (str === void 0) {
          if (this._usage) return this._usage;
          const args = this.registeredArguments.map((arg) => {
            return humanReadableArgName(arg);
          });
          return [].concat(
            this.options.length || this._helpOption !== null ? "[options]" : [],
            this.commands.length ? "[command]" : [],
            this.registeredArguments.length ? args : []
          ).join(" ");
        }
        this._usage = str;
        return this;
      }
      /**
       * Get or set the name of the command.
       *
       * @param {string} [str]
       * @return {(string|Command)}
       */
      name(str) {
        if (str === void 0) return this._name;
        this._name = str;
        return this;
      }
      /**
       * Set/get the help group heading for this subcommand in parent command's help.
       *
       * @param {string} [heading]
       * @return {Command | string}
       */
      helpGroup(heading) {
        if (heading === void 0) return this._helpGroupHeading ?? "";
        this._helpGroupHeading = heading;
        return this;
      }
      /**
       * Set/get the default help group heading for subcommands added to this command.
       * (This does not override a group set directly on the subcommand using .helpGroup().)
       *
       * @example
       * program.commandsGroup('Development Commands:);
       * program.command('watch')...
       * program.command('lint')...
       * ...
       *
       * @param {string} [heading]
       * @returns {Command | string}
       */
      commandsGroup(heading) {
        if (heading === void 0) return this._defaultCommandGroup ?? "";
        this._defaultCommandGroup = heading;
        return this;
      }
      /**
       * Set/get the default help group heading for options added to this command.
       * (This does not override a group set directly on the option using .helpGroup().)
       *
       * @example
       * program
       *   .optionsGroup('Development Options:')
       *   .option('-d, --debug', 'output extra debugging')
       *   .option('-p, --profile', 'output profiling information')
       *
       * @param {string} [heading]
       * @returns {Command | string}
       */
      optionsGroup(heading) {
        if (heading === void 0) return this._defaultOptionGroup ?? "";
        this._defaultOptionGroup = heading;
        return this;
      }
      /**
       * @param {Option} option
       * @private
       */
      _initOptionGroup(option) {
        if (this._defaultOptionGroup && !option.helpGroupHeading)
          option.helpGroup(this._defaultOptionGroup);
      }
      /**
       * @param {Command} cmd
       * @private
       */
      _initCommandGroup(cmd) {
        if (this._defaultCommandGroup && !cmd.helpGroup())
          cmd.helpGroup(this._defaultCommandGroup);
      }
      /**
       * Set the name of the command from script filename, such as process.argv[1],
       * or require.main.filename, or __filename.
       *
       * (Used internally and public although not documented in README.)
       *
       * @example
       * program.nameFromFilename(require.main.filename);
       *
       * @param {string} filename
       * @return {Command}
       */
      nameFromFilename(filename) {
        this._name = path.basename(filename, path.extname(filename));
        return this;
      }
      /**
       * Get or set the directory for searching for executable subcommands of this command.
       *
       * @example
       * program.executableDir(__dirname);
       * // or
       * program.executableDir('subcommands');
       *
       * @param {string} [path]
       * @return {(string|null|Command)}
       */
      executableDir(path2) {
        if (path2 === void 0) return this._executableDir;
        this._executableDir = path2;
        return this;
      }
      /**
       * Return program help documentation.
       *
       * @param {{ error: boolean }} [contextOptions] - pass {error:true} to wrap for stderr instead of stdout
       * @return {string}
       */
      helpInformation(contextOptions) {
        const helper = this.createHelp();
        const context = this._getOutputContext(contextOptions);
        helper.prepareContext({
          error: context.error,
          helpWidth: context.helpWidth,
          outputHasColors: context.hasColors
        });
        const text3 = helper.formatHelp(this, helper);
        if (context.hasColors) return text3;
        return this._outputConfiguration.stripColor(text3);
      }
      /**
       * @typedef HelpContext
       * @type {object}
       * @property {boolean} error
       * @property {number} helpWidth
       * @property {boolean} hasColors
       * @property {function} write - includes stripColor if needed
       *
       * @returns {HelpContext}
       * @private
       */
      _getOutputContext(contextOptions) {
        contextOptions = contextOptions || {};
        const error = !!contextOptions.error;
        let baseWrite;
        let hasColors;
        let helpWidth;
        if (error) {
          baseWrite = (str) => this._outputConfiguration.writeErr(str);
          hasColors = this._outputConfiguration.getErrHasColors();
          helpWidth = this._outputConfiguration.getErrHelpWidth();
        } else {
          baseWrite = (str) => this._outputConfiguration.writeOut(str);
          hasColors = this._outputConfiguration.getOutHasColors();
          helpWidth = this._outputConfiguration.getOutHelpWidth();
        }
        const write3 = (str) => {
          if (!hasColors) str = this._outputConfiguration.stripColor(str);
          return baseWrite(str);
        };
        return { error, write: write3, hasColors, helpWidth };
      }
      /**
       * Output help information for this command.
       *
       * Outputs built-in help, and custom text added using `.addHelpText()`.
       *
       * @param {{ error: boolean } | Function} [contextOptions] - pass {error:true} to write to stderr instead of stdout
       */
      outputHelp(contextOptions) {
        let deprecatedCallback;
        if (typeof contextOptions === "function") {
          deprecatedCallback = contextOptions;
          contextOptions = void 0;
        }
        const outputContext = this._getOutputContext(contextOptions);
        const eventContext = {
          error: outputContext.error,
          write: outputContext.write,
          command: this
        };
        this._getCommandAndAncestors().reverse().forEach((command) => command.emit("beforeAllHelp", eventContext));
        this.emit("beforeHelp", eventContext);
        let helpInformation = this.helpInformation({ error: outputContext.error });
        if (deprecatedCallback) {
          helpInformation = deprecatedCallback(helpInformation);
          if (typeof helpInformation !== "string" && !Buffer.isBuffer(helpInformation)) {
            throw new Error("outputHelp callback must return a string or a Buffer");
          }
        }
        outputContext.write(helpInformation);
        if (this._getHelpOption()?.long) {
          this.emit(this._getHelpOption().long);
        }
        this.emit("afterHelp", eventContext);
        this._getCommandAndAncestors().forEach(
          (command) => command.emit("afterAllHelp", eventContext)
        );
      }
      /**
       * You can pass in flags and a description to customise the built-in help option.
       * Pass in false to disable the built-in help option.
       *
       * @example
       * program.helpOption('-?, --help' 'show help'); // customise
       * program.helpOption(false); // disable
       *
       * @param {(string | boolean)} flags
       * @param {string} [description]
       * @return {Command} `this` command for chaining
       */
      helpOption(flags, description) {
        if (typeof flags === "boolean") {
          if (flags) {
            if (this._helpOption === null) this._helpOption = void 0;
            if (this._defaultOptionGroup) {
              this._initOptionGroup(this._getHelpOption());
            }
          } else {
            this._helpOption = null;
          }
          return this;
        }
        this._helpOption = this.createOption(
          flags ?? "-h, --help",
          description ?? "display help for command"
        );
        if (flags || description) this._initOptionGroup(this._helpOption);
        return this;
      }
      /**
       * Lazy create help option.
       * Returns null if has been disabled with .helpOption(false).
       *
       * @returns {(Option | null)} the help option
       * @package
       */
      _getHelpOption() {
        if (this._helpOption === void 0) {
          this.helpOption(void 0, void 0);
        }
        return this._helpOption;
      }
      /**
       * Supply your own option to use for the built-in help option.
       * This is an alternative to using helpOption() to customise the flags and description etc.
       *
       * @param {Option} option
       * @return {Command} `this` command for chaining
       */
      addHelpOption(option) {
        this._helpOption = option;
        this._initOptionGroup(option);
        return this;
      }
      /**
       * Output help information and exit.
       *
       * Outputs built-in help, and custom text added using `.addHelpText()`.
       *
       * @param {{ error: boolean }} [contextOptions] - pass {error:true} to write to stderr instead of stdout
       */
      help(contextOptions) {
        this.outputHelp(contextOptions);
        let exitCode = Number(process2.exitCode ?? 0);
        if (exitCode === 0 && contextOptions && typeof contextOptions !== "function" && contextOptions.error) {
          exitCode = 1;
        }
        this._exit(exitCode, "commander.help", "(outputHelp)");
      }
      /**
       * // Do a little typing to coordinate emit and listener for the help text events.
       * @typedef HelpTextEventContext
       * @type {object}
       * @property {boolean} error
       * @property {Command} command
       * @property {function} write
       */
      /**
       * Add additional text to be displayed with the built-in help.
       *
       * Position is 'before' or 'after' to affect just this command,
       * and 'beforeAll' or 'afterAll' to affect this command and all its subcommands.
       *
       * @param {string} position - before or after built-in help
       * @param {(string | Function)} text - string to add, or a function returning a string
       * @return {Command} `this` command for chaining
       */
      addHelpText(position, text3) {
        const allowedValues = ["beforeAll", "before", "after", "afterAll"];
        if (!allowedValues.includes(position)) {
          throw new Error(`Unexpected value for position to addHelpText.
Expecting one of '${allowedValues.join("', '")}'`);
        }
        const helpEvent = `${position}Help`;
        this.on(helpEvent, (context) => {
          let helpStr;
          if (typeof text3 === "function") {
            helpStr = text3({ error: context.error, command: context.command });
          } else {
            helpStr = text3;
          }
          if (helpStr) {
            context.write(`${helpStr}
`);
          }
        });
        return this;
      }
      /**
       * Output help information if help flags specified
       *
       * @param {Array} args - array of options to search for help flags
       * @private
       */
      _outputHelpIfRequested(args) {
        const helpOption = this._getHelpOption();
        const helpRequested = helpOption && args.find((arg) => helpOption.is(arg));
        if (helpRequested) {
          this.outputHelp();
          this._exit(0, "commander.helpDisplayed", "(outputHelp)");
        }
      }
    };
    function incrementNodeInspectorPort(args) {
      return args.map((arg) => {
        if (!arg.startsWith("--inspect")) {
          return arg;
        }
        let debugOption;
        let debugHost = "127.0.0.1";
        let debugPort = "9229";
        let match;
        if ((match = arg.match(/^(--inspect(-brk)?)$/)) !== null) {
          debugOption = match[1];
        } else if ((match = arg.match(/^(--inspect(-brk|-port)?)=([^:]+)$/)) !== null) {
          debugOption = match[1];
          if (/^\d+$/.test(match[3])) {
            debugPort = match[3];
          } else {
            debugHost = match[3];
          }
        } else if ((match = arg.match(/^(--inspect(-brk|-port)?)=([^:]+):(\d+)$/)) !== null) {
          debugOption = match[1];
          debugHost = match[3];
          debugPort = match[4];
        }
        if (debugOption && debugPort !== "0") {
          return `${debugOption}=${debugHost}:${parseInt(debugPort) + 1}`;
        }
        return arg;
      });
    }
    function useColor() {
      if (process2.env.NO_COLOR || process2.env.FORCE_COLOR === "0" || process2.env.FORCE_COLOR === "false")
        return false;
      if (process2.env.FORCE_COLOR || process2.env.CLICOLOR_FORCE !== void 0)
        return true;
      return void 0;
    }
    exports.Command = Command2;
    exports.useColor = useColor;
  }
});

// node_modules/commander/index.js
var require_commander = __commonJS({
  "node_modules/commander/index.js"(exports) {
    var { Argument: Argument2 } = require_argument();
    var { Command: Command2 } = require_command();
    var { CommanderError: CommanderError2, InvalidArgumentError: InvalidArgumentError2 } = require_error();
    var { Help: Help2 } = require_help();
    var { Option: Option2 } = require_option();
    exports.program = new Command2();
    exports.createCommand = (name) => new Command2(name);
    exports.createOption = (flags, description) => new Option2(flags, description);
    exports.createArgument = (name, description) => new Argument2(name, description);
    exports.Command = Command2;
    exports.Option = Option2;
    exports.Argument = Argument2;
    exports.Help = Help2;
    exports.CommanderError = CommanderError2;
    exports.InvalidArgumentError = InvalidArgumentError2;
    exports.InvalidOptionArgumentError = InvalidArgumentError2;
  }
});

// src/core/error-text.ts
function errorText(error) {
  if (error instanceof AggregateError) return error.errors.map(errorText).join(", ");
  return error instanceof Error ? error.message : String(error);
}
var init_error_text = __esm({
  "src/core/error-text.ts"() {
    "use strict";
  }
});

// src/core/printable.ts
function printable(line) {
  return line.replaceAll(NOT_PRINTABLE, "�");
}
function printableJson(text3) {
  return text3.replaceAll(
    NOT_PRINTABLE,
    (character) => character === "\n" ? character : character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  );
}
var NOT_PRINTABLE;
var init_printable = __esm({
  "src/core/printable.ts"() {
    "use strict";
    NOT_PRINTABLE = // oxlint-disable-next-line no-control-regex -- they are what is replaced
    /[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;
  }
});

// src/core/json/canonical.ts
function canonicalize(value) {
  return isInOrder(value) ? JSON.stringify(value) : write(value);
}
function isInOrder(value) {
  if (isScalar(value)) return true;
  if (value instanceof Canonical) return false;
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) if (!isInOrder(value[i])) return false;
    return true;
  }
  let before = "";
  for (const key of keysOf(value)) {
    if (key < before || !isInOrder(value[key])) return false;
    before = key;
  }
  return true;
}
function write(value) {
  if (isScalar(value)) return JSON.stringify(value);
  if (value instanceof Canonical) return value.text;
  let text3 = "";
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) text3 += `${i === 0 ? "" : ","}${write(value[i])}`;
    return `[${text3}]`;
  }
  const keys = keysOf(value);
  for (const key of areSorted(keys) ? keys : keys.toSorted())
    text3 += `${text3 === "" ? "" : ","}${memberName(key)}${write(value[key])}`;
  return `{${text3}}`;
}
function areSorted(keys) {
  for (let i = 1; i < keys.length; i++) if (keys[i] < keys[i - 1]) return false;
  return true;
}
function memberName(key) {
  let name = names.get(key);
  if (name === void 0) {
    name = `${JSON.stringify(key)}:`;
    if (names.size < NAMES_MAX && key.length <= NAME_LENGTH_MAX) names.set(key, name);
  }
  return name;
}
function isScalar(value) {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw new NotCanonical("a string holds a lone surrogate");
      return true;
    case "number":
      if (!Number.isFinite(value)) throw new NotCanonical(`${value} is not a finite number`);
      return true;
    case "boolean":
      return true;
    case "object":
      return value === null;
    default:
      throw new NotCanonical(`${typeof value} has no canonical form`);
  }
}
function isList(value) {
  return Array.isArray(value);
}
function keysOf(value) {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new NotCanonical("an object is not a plain one");
  const keys = Object.keys(value);
  for (const key of keys)
    if (key === "__proto__" || !key.isWellFormed()) throw new NotCanonical("a key cannot be signed");
  return keys;
}
var Canonical, NotCanonical, NAMES_MAX, NAME_LENGTH_MAX, names;
var init_canonical = __esm({
  "src/core/json/canonical.ts"() {
    "use strict";
    Canonical = class {
      text;
      constructor(text3) {
        this.text = text3;
      }
    };
    NotCanonical = class extends Error {
      constructor(what) {
        super(what);
        this.name = "NotCanonical";
      }
    };
    NAMES_MAX = 1e3;
    NAME_LENGTH_MAX = 64;
    names = /* @__PURE__ */ new Map();
  }
});

// src/core/approval-requests/action-code.ts
function actionCode(action, sha256Hex) {
  return codeOfHash(sha256Hex(actionText(action)));
}
function actionText(action) {
  const { capability, target, parameters, policy, principalId, requestedBy } = action;
  return canonicalize({
    capability,
    target,
    parameters,
    policy: { name: policy.name, version: policy.version },
    principalId,
    requestedBy
  });
}
function codeOfHash(hash) {
  const bits = BigInt(`0x${hash.slice(0, 15)}`);
  const characters = Array.from(
    { length: 12 },
    (_, i) => ALPHABET[Number(bits >> BigInt(55 - 5 * i) & 31n)] ?? ""
  ).join("");
  return [0, 4, 8].map((start) => characters.slice(start, start + 4)).join("-");
}
var ALPHABET;
var init_action_code = __esm({
  "src/core/approval-requests/action-code.ts"() {
    "use strict";
    init_canonical();
    ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  }
});

// src/core/verifier/evidence.ts
function mustHold(checks) {
  const problems = checks.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new Error(problems.join("; "));
  return true;
}
function isOpen({ missingKeys, missingLog, unknownMembers }) {
  return [missingKeys, missingLog, unknownMembers].some((lacking) => lacking !== void 0);
}
function mayVerify(artifact, keyId) {
  return keyId.includes(":") === (artifact === "approval" || artifact === "step-up");
}
function check(name, problem, holds2) {
  try {
    return { name, problem: holds2() ? void 0 : problem };
  } catch (error) {
    return { name, problem: `${problem} (${error instanceof Error ? error.message : "unreadable"})` };
  }
}
function checkSigned(name, problem, crypto, holds2) {
  const missing = /* @__PURE__ */ new Set();
  const notes = /* @__PURE__ */ new Set();
  const verifySignature = (artifact, text3, signature) => {
    const verdict = crypto.verifySignature(artifact, text3, signature);
    if (verdict === void 0) missing.add(signature.keyId);
    const note2 = crypto.noteOn?.(artifact, text3, signature.keyId);
    if (note2 !== void 0) notes.add(note2);
    return verdict !== false;
  };
  const made = check(name, problem, () => holds2({ ...crypto, verifySignature }));
  if (made.problem !== void 0) return made;
  if (missing.size === 0) return notes.size === 0 ? made : { ...made, notes: [...notes] };
  const missingKeys = [...missing];
  const named2 = missingKeys.map((keyId) => JSON.stringify(keyId)).join(", ");
  return { name, problem: `It cannot be checked: key ${named2} is not given.`, missingKeys };
}
function canonicalText(value) {
  try {
    return canonicalize(value);
  } catch {
    return void 0;
  }
}
function members(value) {
  if (!isMembers(value)) throw new Error("an object is missing");
  return value;
}
function isMembers(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function list(value) {
  if (!Array.isArray(value)) throw new Error("a list is missing");
  return value;
}
function itemsOf(value) {
  return Array.isArray(value) ? value : [];
}
function string(value) {
  if (typeof value !== "string") throw new Error("a string is missing");
  return value;
}
var init_evidence = __esm({
  "src/core/verifier/evidence.ts"() {
    "use strict";
    init_canonical();
  }
});

// src/core/verifier/instant.ts
function instantMs(text3) {
  const [, date = "", time2 = "", fraction = "", offset = ""] = TIMESTAMP.exec(text3) ?? [];
  const midnight = /* @__PURE__ */ new Date(`${date}T00:00:00.000Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return Number.NaN;
  return Date.parse(`${date}T${time2}.${fraction.padEnd(3, "0").slice(0, 3)}${offset.toUpperCase()}`);
}
var TIMESTAMP;
var init_instant = __esm({
  "src/core/verifier/instant.ts"() {
    "use strict";
    TIMESTAMP = /^([1-9]\d{3}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
  }
});

// src/core/merkle/tree.ts
function leafHash(data, sha2562) {
  const input = new Uint8Array(1 + data.length);
  input.set(data, 1);
  return sha2562(input);
}
function nodeHash(left, right, sha2562) {
  return sha2562(nodeInput(new Uint8Array(65), left, right));
}
function nodeInput(input, left, right) {
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 33);
  return input;
}
function rootOfInclusion(proof, sha2562) {
  const { index, size, path } = proof;
  assertIndex(index, size);
  assertHash(proof.leafHash, "the leaf hash");
  path.forEach((hash2, height) => assertHash(hash2, "path hash", height));
  let hash = proof.leafHash;
  let [position, last] = [index, size - 1];
  for (const sibling of path) {
    if (last === 0) throw new Error("the path is too long for the index and the size");
    if (odd(position) || position === last) {
      hash = nodeHash(sibling, hash, sha2562);
      while (!odd(position)) [position, last] = [half(position), half(last)];
    } else hash = nodeHash(hash, sibling, sha2562);
    [position, last] = [half(position), half(last)];
  }
  if (last !== 0) throw new Error("the path is too short for the index and the size");
  return hash;
}
function assertHash(hash, name, index) {
  if (hash.length === 32) return;
  throw new Error(`${name}${index === void 0 ? "" : ` ${index}`} has ${hash.length} bytes; a hash has 32`);
}
function assertIndex(index, size) {
  if (!Number.isSafeInteger(size) || size < 1) throw new Error("the size is not an integer of 1 or more");
  if (!Number.isSafeInteger(index) || index < 0) throw new Error("the index is not an integer of 0 or more");
  if (index >= size) throw new Error(`the index ${index} is not below the size ${size}`);
}
var half, odd;
var init_tree = __esm({
  "src/core/merkle/tree.ts"() {
    "use strict";
    half = (position) => Math.floor(position / 2);
    odd = (position) => position % 2 === 1;
  }
});

// src/core/merkle/batch-head.ts
function headText({ origin, size, root }) {
  return `${origin}
${size}
${root}
`;
}
function headOf(encoded, batch, { sha256: sha2562, fromBase64, toBase64: toBase642 }) {
  const { origin, size, index, path } = readPosition(batch);
  const hashes = path.map((text3) => {
    const hash = fromBase64(text3);
    if (hash?.length !== 32) throw new Error("a hash in the path of the batch is not 32 bytes of base64");
    return hash;
  });
  const root = rootOfInclusion({ leafHash: leafHash(encoded, sha2562), index, size, path: hashes }, sha2562);
  return headText({ origin, size, root: toBase642(root) });
}
function readPosition(value) {
  const { origin, size, index, path, ...others } = typeof value === "object" && value !== null ? value : {};
  if (typeof origin !== "string" || !ORIGIN.test(origin))
    throw new Error("the origin of the batch is not a name, /batch/ and a UUID");
  if (!Number.isSafeInteger(size) || size < 2)
    throw new Error("the size of the batch is not an integer of 2 or more");
  if (!Number.isSafeInteger(index) || index < 0)
    throw new Error("the index in the batch is not an integer of 0 or more");
  if (!Array.isArray(path) || !path.every((hash) => typeof hash === "string"))
    throw new Error("the path of the batch is not a list of hashes");
  if (Object.keys(others).length > 0) throw new Error("the batch has an unknown member");
  return { origin, size, index, path };
}
function familyOf(algorithm) {
  return algorithm.endsWith(BATCH) ? algorithm.slice(0, -BATCH.length) : algorithm;
}
function signedMessage(artifact, encoded, { algorithm, batch }, hashing) {
  if (!algorithm.endsWith(BATCH)) {
    if (batch !== void 0) throw new Error(`a signature of '${algorithm}' stands in no batch`);
    return encoded;
  }
  if (SIGNED_BY_BATCH[artifact]?.includes(algorithm) !== true)
    throw new Error(`'${algorithm}' does not sign this kind of artifact`);
  return new TextEncoder().encode(headOf(encoded, batch, hashing));
}
var ORIGIN, BATCH, SIGNED_BY_BATCH;
var init_batch_head = __esm({
  "src/core/merkle/batch-head.ts"() {
    "use strict";
    init_tree();
    ORIGIN = /^[!-*,-~]{1,200}\/batch\/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
    BATCH = "-batch";
    SIGNED_BY_BATCH = {
      "trust-record": ["ed25519-batch", "ml-dsa-65-batch"],
      "execution-authorization": ["ed25519-batch"],
      receipt: ["ml-dsa-65-batch"]
    };
  }
});

// src/core/json/text.ts
function parseJsonText(text3, depthMax) {
  const members2 = scan(text3, depthMax);
  let value;
  try {
    value = JSON.parse(text3);
  } catch (error) {
    throw new MalformedJson(error instanceof Error ? error.message.replace(/".*"/s, "…") : "syntax error");
  }
  if (inspect(value) !== members2) throw new MalformedJson("duplicate key");
  return value;
}
function scan(text3, depthMax) {
  let members2 = 0;
  let depth = 0;
  for (let i = 0; i < text3.length; i++) {
    switch (text3.charCodeAt(i)) {
      case 34:
        i = endOfString(text3, i);
        break;
      case 58:
        members2++;
        break;
      case 91:
      // [
      case 123:
        if (++depth > depthMax) throw new MalformedJson(`deeper than ${depthMax}`);
        break;
      case 93:
      // ]
      case 125:
        depth--;
        break;
      case 46:
        if (text3.startsWith(SMALL, i + 1)) i = endOfNumber(text3, i) - 1;
        break;
      case 69:
      // E
      case 101:
        if (text3.charCodeAt(i + 1) === 45) i = endOfNumber(text3, i) - 1;
        break;
    }
  }
  return members2;
}
function endOfNumber(text3, at2) {
  let start = at2;
  while (isOfNumber(text3.charCodeAt(start - 1))) start--;
  let end = at2 + 1;
  while (isOfNumber(text3.charCodeAt(end))) end++;
  const number = text3.slice(start, end);
  if (/^[^eE]*[1-9]/.test(number) && Number(number) === 0) throw new MalformedJson("number out of range");
  return end;
}
function isOfNumber(code) {
  return code >= 48 && code <= 57 || code === 46 || code === 45 || code === 43 || (code | 32) === 101;
}
function endOfString(text3, start) {
  for (let i = start + 1; i < text3.length; i++) {
    const code = text3.charCodeAt(i);
    if (code === 34) return i;
    if (code === 92) i++;
  }
  return text3.length;
}
function inspect(value) {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new MalformedJson("lone surrogate");
    return 0;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new MalformedJson("number out of range");
    return 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((members3, item) => members3 + inspect(item), 0);
  let members2 = 0;
  for (const [key, member] of Object.entries(value)) {
    if (key === "__proto__") throw new MalformedJson("__proto__ key");
    if (!key.isWellFormed()) throw new MalformedJson("lone surrogate in a key");
    members2 += 1 + inspect(member);
  }
  return members2;
}
var MalformedJson, SMALL;
var init_text = __esm({
  "src/core/json/text.ts"() {
    "use strict";
    MalformedJson = class extends Error {
      constructor(what) {
        super(what);
        this.name = "MalformedJson";
      }
    };
    SMALL = "0".repeat(300);
  }
});

// src/core/verifier/base64.ts
function base64(text3) {
  let binary;
  try {
    binary = atob(text3);
  } catch {
    return void 0;
  }
  if (btoa(binary) !== text3) return void 0;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
function base64url(text3) {
  if (!/^[\w-]*$/.test(text3)) return void 0;
  const padding = "=".repeat((4 - text3.length % 4) % 4);
  return base64(text3.replaceAll("-", "+").replaceAll("_", "/") + padding);
}
function toBase64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
var init_base64 = __esm({
  "src/core/verifier/base64.ts"() {
    "use strict";
  }
});

// src/core/webauthn/assertion.ts
function isPasskeyAlgorithm(algorithm) {
  return Object.hasOwn(ALGORITHMS, algorithm);
}
function keyAlgorithmOf(algorithm) {
  return ALGORITHMS[algorithm];
}
function readPasskey(value) {
  if (!isMembers(value)) throw new Error("passkey is not an object");
  const { rpId, origins, backupEligible } = value;
  if (typeof rpId !== "string" || rpId === "") throw new Error("passkey.rpId is not a name");
  if (!Array.isArray(origins) || origins.length === 0) throw new Error("passkey.origins is not a list");
  const names2 = origins.filter((origin) => typeof origin === "string" && origin !== "");
  if (names2.length < origins.length) throw new Error("passkey.origins holds something else than origins");
  if (typeof backupEligible !== "boolean") throw new Error("passkey.backupEligible is not true or false");
  return { rpId, origins: names2, backupEligible };
}
function assertedBytes(webauthn, { message: message2, passkey, sha256: sha2562 }) {
  if (!isMembers(webauthn)) throw new Error("webauthn is missing");
  const authenticatorData = bytesOf(webauthn, "authenticatorData");
  const clientDataJSON = bytesOf(webauthn, "clientDataJSON");
  requireClientData(clientData(clientDataJSON), challengeOf(message2, sha2562), passkey);
  requireAuthenticatorData(authenticatorData, passkey, sha2562);
  const signed2 = new Uint8Array(AUTHENTICATOR_DATA_BYTES + 32);
  signed2.set(authenticatorData);
  signed2.set(sha2562(clientDataJSON), AUTHENTICATOR_DATA_BYTES);
  return signed2;
}
function challengeOf(message2, sha2562) {
  return toBase64(sha2562(message2)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
function bytesOf(webauthn, name) {
  const text3 = webauthn[name];
  const bytes = typeof text3 === "string" ? base64(text3) : void 0;
  if (bytes === void 0) throw new Error(`webauthn.${name} is not canonical base64`);
  return bytes;
}
function clientData(bytes) {
  let value;
  try {
    value = parseJsonText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), DEPTH_MAX);
  } catch {
    throw new Error("the client data is not JSON with exactly one reading");
  }
  if (!isMembers(value)) throw new Error("the client data is not an object");
  return value;
}
function requireClientData(data, due, passkey) {
  const { type, challenge, origin, crossOrigin } = data;
  if (type !== "webauthn.get") throw new Error("the passkey was not asked to sign: the type is another one");
  if (challenge !== due) throw new Error("the passkey signed another challenge");
  if (typeof origin !== "string") throw new Error("the client data has no origin");
  if (passkey !== void 0 && !passkey.origins.includes(origin))
    throw new Error("the passkey signed at an origin that is not one of the key's");
  if (crossOrigin !== void 0 && crossOrigin !== false || "topOrigin" in data)
    throw new Error("the passkey signed inside another site's page");
}
function requireAuthenticatorData(data, passkey, sha2562) {
  if (data.length !== AUTHENTICATOR_DATA_BYTES)
    throw new Error(
      `the authenticator data has ${data.length} bytes, and must have ${AUTHENTICATOR_DATA_BYTES}`
    );
  if (passkey !== void 0) {
    const rpIdHash = sha2562(new TextEncoder().encode(passkey.rpId));
    if (!rpIdHash.every((byte, i) => data[i] === byte))
      throw new Error("the passkey signed for another rpId than the key's");
  }
  const flags = data[32] ?? 0;
  if ((flags & UP) === 0) throw new Error("nobody was present when the passkey signed (UP)");
  if ((flags & UV) === 0) throw new Error("the passkey did not verify its user (UV)");
  if ((flags & (AT | ED)) !== 0) throw new Error("the authenticator data announces more than it may hold");
  if (passkey !== void 0 && (flags & BE) !== 0 !== passkey.backupEligible)
    throw new Error("whether the passkey can be copied is not as it was enrolled (BE)");
  if ((flags & BS) !== 0 && (flags & BE) === 0)
    throw new Error("the passkey was copied and says that it cannot be (BS without BE)");
}
var ALGORITHMS, UP, UV, BE, BS, AT, ED, AUTHENTICATOR_DATA_BYTES, DEPTH_MAX;
var init_assertion = __esm({
  "src/core/webauthn/assertion.ts"() {
    "use strict";
    init_text();
    init_base64();
    init_evidence();
    ALGORITHMS = { "webauthn-es256": "es256", "webauthn-ed25519": "ed25519" };
    UP = 1;
    UV = 4;
    BE = 8;
    BS = 16;
    AT = 64;
    ED = 128;
    AUTHENTICATOR_DATA_BYTES = 37;
    DEPTH_MAX = 8;
  }
});

// src/core/verifier/signatures.ts
function knownFamily(algorithm) {
  const family = familyOf(algorithm);
  if (!Object.hasOwn(SIGNATURE_BYTES, family)) throw new Error(`the algorithm '${algorithm}' is not known`);
  return family;
}
function requireEd25519(algorithm, names2 = ["ed25519"]) {
  knownFamily(algorithm);
  if (!names2.includes(algorithm)) throw new Error(`'${algorithm}' does not sign this kind of artifact`);
}
function requireHumanAlgorithm(algorithm) {
  if (!isPasskeyAlgorithm(algorithm)) requireEd25519(algorithm);
}
function carriedSignature(value) {
  const { algorithm, keyId, value: bytes, batch } = members(value);
  return { algorithm: string(algorithm), keyId: string(keyId), value: string(bytes), batch };
}
function isAuthorizationSigned({ payload = null, signature = null, ...by2 }, crypto) {
  const carried = carriedSignature({ ...by2, value: signature });
  requireEd25519(carried.algorithm, ["ed25519", "ed25519-batch"]);
  return crypto.verifySignature("execution-authorization", canonicalize(payload), carried);
}
function checkEd25519(name, problem, given, signed2) {
  const { artifact, text: text3, signature } = signed2;
  return checkSigned(name, problem, given, (crypto) => {
    const carried = carriedSignature(signature);
    requireEd25519(carried.algorithm);
    return text3 !== void 0 && crypto.verifySignature(artifact, text3, carried);
  });
}
function textOf(signature) {
  const { algorithm = null, keyId = null, value = null, batch } = signature ?? {};
  return canonicalize([algorithm, keyId, value, ...batch === void 0 ? [] : [batch]]);
}
function requiredSignatures(evidence, first) {
  if (!("requiredAlgorithms" in evidence)) {
    if ("signatures" in evidence) throw new Error("signatures that nothing requires");
    return [first];
  }
  const required = list(evidence["requiredAlgorithms"]).map(string);
  const carried = list(evidence["signatures"]).map(carriedSignature);
  const complete = required.length > 1 && new Set(required).size === required.length && carried.length === required.length && carried.every((one, i) => familyOf(one.algorithm) === required[i]);
  if (!complete) throw new Error("a required signature is missing");
  if (textOf(first) !== textOf(carried[0])) throw new Error("signature is not the first of signatures");
  return carried;
}
var SIGNATURE_BYTES;
var init_signatures = __esm({
  "src/core/verifier/signatures.ts"() {
    "use strict";
    init_canonical();
    init_batch_head();
    init_assertion();
    init_evidence();
    SIGNATURE_BYTES = { ed25519: 64, "ml-dsa-65": 3309 };
  }
});

// src/core/verifier/approval-request.ts
function checkApprovalRequest(evidence, given) {
  const asked = isMembers(evidence) ? evidence : {};
  const { request, requestHash: requestHash2, signature, closed: closed2 } = asked;
  const text3 = isMembers(request) ? canonicalText(request) : void 0;
  return [
    check("request hash", "The requestHash is not that of the request", () => {
      return text3 !== void 0 && given.sha256Hex(text3) === requestHash2;
    }),
    checkEd25519("request signature", "The signature of the request is not valid", given, {
      artifact: "approval-request",
      text: text3,
      signature
    }),
    check("request", "The request is not one that the service makes", () => isWhole(members(request))),
    check("action code", "The actionCode is not that of the action", () => {
      return actionCode(codedAction(members(request)), given.sha256Hex) === asked["actionCode"];
    }),
    ...closed2 === void 0 ? [] : checkApprovalRequestClose(closed2, given),
    check("standing", "What it says beside the request is not what was signed", () => isAsSigned(asked))
  ];
}
function checkApprovalRequestClose(evidence, given) {
  const { signature, ...closed2 } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("close signature", "The signature of its end is not valid", given, {
      artifact: "approval-request-close",
      text: canonicalText(closed2),
      signature
    }),
    check("close", "Its end is not one that a request can have", () => isClose(closed2))
  ];
}
function isWhole(request) {
  const { policy, quorum, createdAt, expiresAt, note: note2 } = request;
  const { name, version, contentHash } = members(policy);
  members(request["parameters"]);
  members(request["signals"]);
  return ["requestId", "requestedBy", "principalId", "capability", "target"].every(
    (key) => isText(request[key])
  ) && isText(name) && isText(version) && HASH.test(string(contentHash)) && typeof quorum === "number" && Number.isInteger(quorum) && quorum >= 1 && typeof note2 === "string" && instantMs(string(createdAt)) < instantMs(string(expiresAt));
}
function isClose({ closeId, requestId, requestHash: requestHash2, status: status2, by: by2, reason, closedAt }) {
  const isReasoned = status2 === "DECLINED" ? isText(reason) : status2 === "WITHDRAWN" && reason === "";
  return isReasoned && [closeId, requestId, by2].every(isText) && HASH.test(string(requestHash2)) && !Number.isNaN(instantMs(string(closedAt)));
}
function isAsSigned({ request, requestHash: requestHash2, status: status2, expiresAt, closed: closed2 }) {
  const { requestId, requestedBy, createdAt, expiresAt: until } = members(request);
  if (string(expiresAt) !== until) return false;
  if (closed2 === void 0) return !CLOSED.includes(string(status2));
  const end = members(closed2);
  return string(end["status"]) === status2 && string(end["requestId"]) === requestId && string(end["requestHash"]) === requestHash2 && (status2 !== "WITHDRAWN" || string(end["by"]) === requestedBy) && instantMs(string(createdAt)) <= instantMs(string(end["closedAt"]));
}
function isText(value) {
  return typeof value === "string" && value !== "";
}
function codedAction(request) {
  const { name, version } = members(request["policy"]);
  return {
    capability: string(request["capability"]),
    target: string(request["target"]),
    parameters: members(request["parameters"]),
    policy: { name: string(name), version: string(version) },
    principalId: string(request["principalId"]),
    requestedBy: string(request["requestedBy"])
  };
}
function notesOnApprovalRequest(asked) {
  const stands = STANDING.filter((name) => Object.hasOwn(asked, name));
  if (stands.length === 0) return [];
  return [
    `Nothing signs how it stands (${stands.join(", ")}): the service says so when it is asked. Its end is signed where it was declined or withdrawn.`
  ];
}
var HASH, CLOSED, STANDING;
var init_approval_request = __esm({
  "src/core/verifier/approval-request.ts"() {
    "use strict";
    init_action_code();
    init_evidence();
    init_instant();
    init_signatures();
    HASH = /^[0-9a-f]{64}$/;
    CLOSED = ["DECLINED", "WITHDRAWN"];
    STANDING = ["status", "missing", "eligible", "approvals", "endedBy", "intervalSeconds", "url"];
  }
});

// src/core/approval-requests/request-hash.ts
function requestHash(content, sha256Hex) {
  return sha256Hex(canonicalize(content));
}
var init_request_hash = __esm({
  "src/core/approval-requests/request-hash.ts"() {
    "use strict";
    init_canonical();
  }
});

// src/core/approval-requests/request-problem.ts
function requestProblem(request, action) {
  const asked = request;
  if (!isMembers(asked)) return "is for a request that is not there";
  const { name, version, contentHash } = isMembers(asked["policy"]) ? asked["policy"] : {};
  if (asked["requestedBy"] !== action.requestedBy) return "was asked for by another caller";
  if (asked["principalId"] !== action.principalId) return "was asked for by another principal";
  if (asked["capability"] !== action.capability) return "was asked for another capability";
  if (asked["target"] !== action.target) return "was asked for another target";
  if (!isSame(asked["parameters"], action.parameters)) return "was asked for other parameters";
  if (name !== action.policy.name || version !== action.policy.version)
    return "was asked for under another policy";
  if (contentHash !== action.policy.contentHash) return "was asked for under another content of the policy";
  if (!hasSignals(asked["signals"], action)) return "was asked for with other signals";
  const { createdAt, expiresAt } = asked;
  const at2 = instantMs(action.evaluatedAt);
  if (typeof createdAt !== "string" || !(instantMs(createdAt) <= at2)) return "was asked for later";
  if (typeof expiresAt !== "string" || !(at2 < instantMs(expiresAt)))
    return "is for a request that was expired";
  return void 0;
}
function hasSignals(asked, { signals, verified: verified2 }) {
  if (!isMembers(asked)) return false;
  return Object.keys(asked).every((name) => Object.hasOwn(signals, name) && isSame(asked[name], signals[name])) && Object.keys(signals).every((name) => Object.hasOwn(asked, name) || verified2.includes(name));
}
function isSame(one, other) {
  const text3 = canonicalText(one);
  return text3 !== void 0 && text3 === canonicalText(other);
}
var init_request_problem = __esm({
  "src/core/approval-requests/request-problem.ts"() {
    "use strict";
    init_evidence();
    init_instant();
  }
});

// src/core/verifier/scope.ts
function scopeCovers(scope, parameters, sha256Hex) {
  if (!isMembers(scope) || !isMembers(parameters)) return false;
  if (hasExactly(scope, ["parametersHash"])) {
    const text3 = canonicalText(parameters);
    return text3 !== void 0 && sha256Hex(text3) === scope["parametersHash"];
  }
  if (!hasExactly(scope, ["limits"])) return false;
  const { limits } = scope;
  return Array.isArray(limits) && limits.length > 0 && limits.every((limit) => isWithin(limit, parameters));
}
function isWithin(limit, parameters) {
  if (!isMembers(limit) || !hasExactly(limit, ["max", "path"])) return false;
  const { path, max } = limit;
  if (typeof path !== "string" || typeof max !== "number" || !Number.isFinite(max)) return false;
  const value = valueAt(parameters, path);
  return typeof value === "number" && Number.isFinite(value) && value <= max;
}
function valueAt(parameters, path) {
  const names2 = (path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path).split(".");
  return names2.reduce(
    (value, name) => isMembers(value) && Object.hasOwn(value, name) ? value[name] : void 0,
    parameters
  );
}
function hasExactly(value, names2) {
  const own = Object.keys(value);
  return own.length === names2.length && names2.every((name) => own.includes(name));
}
var PREFIX;
var init_scope = __esm({
  "src/core/verifier/scope.ts"() {
    "use strict";
    init_evidence();
    PREFIX = "intent.parameters.";
  }
});

// src/core/verifier/approvals.ts
function approvalProblem(payload, action, sha256Hex) {
  const { version, approverId, issuedAt, expiresAt, scope } = payload;
  if (version !== 1 && version !== 2) return "is of an unknown version";
  if (version === 2 && (action.requestHash === void 0 || payload["requestHash"] !== action.requestHash))
    return "is for another request";
  if (payload["capability"] !== action.capability) return "is for another capability";
  if (payload["target"] !== action.target) return "is for another target";
  if (!scopeCovers(scope, action.parameters, sha256Hex)) return "does not cover the parameters";
  const at2 = instantMs(action.evaluatedAt);
  if (typeof issuedAt !== "string" || !(instantMs(issuedAt) <= at2)) return "was not yet valid";
  if (typeof expiresAt !== "string" || !(at2 < instantMs(expiresAt))) return "was expired";
  if (typeof approverId !== "string" || [action.principalId, action.requestedBy, ...action.notCounted].includes(approverId))
    return "is by who asked for it";
  return void 0;
}
function checkApprovals(record, given) {
  return checkSigned("approvals", "The verified signals cannot be verified", given, (crypto) => {
    const used = /* @__PURE__ */ new Set();
    for (const execution of list(record["executions"])) {
      const decision = members(members(execution)["decision"]);
      for (const [signal, verified2] of Object.entries(members(decision["verifiedSignals"])))
        verifySignal({ signal, verified: members(verified2), decision, record, used, crypto });
    }
    return true;
  });
}
function checkRefusedApprovals(refusal, given) {
  return checkSigned("approvals", "The approvals in the decision are not signed ones", given, (crypto) => {
    const verifiedSignals = members(members(refusal["decision"])["verifiedSignals"]);
    for (const verified2 of Object.values(verifiedSignals).map(members)) {
      const notCounted = notCountedIn(verified2);
      for (const approval of approvalsOf(verified2)) {
        const { approverId } = requireSignature(approval, crypto);
        if (notCounted.includes(approverId))
          throw new Error(`the approval by ${JSON.stringify(approverId)} is by who asked for it`);
      }
    }
    return true;
  });
}
function verifySignal(one) {
  const { signal, verified: verified2, decision } = one;
  const { value, by: by2 } = verified2;
  const named2 = `signal ${JSON.stringify(signal)}`;
  const declared = members(decision["signals"]);
  const isDeclared = Object.hasOwn(declared, signal);
  if (isDeclared && canonicalize(declared[signal]) !== canonicalize(value))
    throw new Error(`${named2} is verified to be another value than was declared`);
  if (!isDeclared && typeof value !== "boolean" && typeof value !== "number")
    throw new Error(`${named2} was left out, and what is filled in is no value of a signal`);
  const approvals = approvalsOf(verified2);
  const notCounted = notCountedIn(verified2);
  if (by2 === "approval" && value === true) {
    if (approvals.length === 0) throw new Error(`${named2} has no approval`);
    requireApprovals(approvals, named2, { ...one, notCounted });
    return;
  }
  if (approvals.length > 0 || "request" in verified2)
    throw new Error(`${named2} has approvals that it does not claim`);
  if (by2 === "approval" && value === false) return;
  if (by2 === "history" && typeof value === "number") return;
  if (by2 === "crm-deal") {
    requireAuthorizedRead(named2, one);
    return;
  }
  throw new Error(`${named2} is verified by what nothing here can check`);
}
function requireApprovals(approvals, named2, {
  verified: verified2,
  decision,
  record,
  used,
  crypto,
  notCounted
}) {
  const transaction = members(record["transaction"]);
  const { action, target, parameters } = members(transaction["intent"]);
  const { request } = verified2;
  const approved = {
    capability: string(action),
    target: string(target),
    parameters,
    evaluatedAt: string(decision["evaluatedAt"]),
    principalId: string(members(transaction["authority"])["principalId"]),
    requestedBy: string(members(transaction["metadata"])["submittedBy"]),
    notCounted,
    requestHash: request === void 0 ? void 0 : requestHash(members(request), crypto.sha256Hex)
  };
  const approvers = /* @__PURE__ */ new Set();
  for (const approval of approvals) {
    const { approverId, nonce, revokedAt } = requireSignature(approval, crypto);
    const whose = `${named2}: the approval by ${JSON.stringify(approverId)}`;
    const problem = approvalProblem(members(approval["payload"]), approved, crypto.sha256Hex);
    if (problem !== void 0) throw new Error(`${whose} ${problem}`);
    if (revokedAt !== null && !(instantMs(approved.evaluatedAt) < instantMs(revokedAt)))
      throw new Error(`${whose} is by a key that was revoked`);
    if (approvers.has(approverId)) throw new Error(`${whose} is not the only one of this approver`);
    if (used.has(nonce)) throw new Error(`${whose} is used twice`);
    approvers.add(approverId);
    used.add(nonce);
  }
  if (request !== void 0) requireRequest(members(request), approvals, named2, { decision, approved });
}
function requireRequest(request, approvals, named2, { decision, approved }) {
  if (!approvals.some(({ payload }) => members(payload)["version"] === 2))
    throw new Error(`${named2} has a request that no approval is for`);
  const { name, version } = members(decision["policy"]);
  const verifiedSignals = members(decision["verifiedSignals"]);
  const problem = requestProblem(request, {
    ...approved,
    signals: members(decision["signals"]),
    verified: Object.keys(verifiedSignals),
    policy: {
      name: string(name),
      version: string(version),
      contentHash: string(decision["policyContentHash"])
    }
  });
  if (problem !== void 0) throw new Error(`${named2}: the approval ${problem}`);
  const count2 = Object.values(verifiedSignals).flatMap((one) => approvalsOf(members(one))).length;
  if (typeof request["quorum"] !== "number" || !(count2 >= request["quorum"]))
    throw new Error(`${named2} has fewer approvals than its request asked for`);
}
function requireSignature({ payload, algorithm, signature, webauthn }, crypto) {
  const { approverId, keyId, nonce } = members(payload);
  const approver = string(approverId);
  if (approver === "" || approver.includes(":")) throw new Error("an approverId is not one");
  const carried = {
    algorithm: string(algorithm),
    keyId: `${approver}:${string(keyId)}`,
    value: string(signature),
    webauthn
  };
  requireHumanAlgorithm(carried.algorithm);
  if (!crypto.verifySignature("approval", canonicalize(payload), carried))
    throw new Error(`the approval by ${JSON.stringify(approver)} is not signed by that approver`);
  return {
    approverId: approver,
    nonce: string(nonce),
    revokedAt: crypto.humanKey(carried.keyId)?.revokedAt ?? null
  };
}
function requireAuthorizedRead(named2, { verified: verified2, record, crypto }) {
  const authorization = members(verified2["authorization"]);
  const payload = members(authorization["payload"]);
  const { businessTransactionId, authorizationId } = payload;
  if (!isAuthorizationSigned(authorization, crypto))
    throw new Error(`${named2}: the authorization of the read is not signed`);
  if (string(businessTransactionId) !== record["businessTransactionId"])
    throw new Error(`${named2}: the authorization of the read is of another transaction`);
  const released = members(members(record["authorization"])["payload"]);
  if (string(authorizationId) === released["authorizationId"])
    throw new Error(`${named2}: the authorization of the read is that of the execution`);
}
function notCountedIn(verified2) {
  return "notCounted" in verified2 ? list(verified2["notCounted"]).map(string) : [];
}
function isSilentOnPersons(decision) {
  const verifiedSignals = isMembers(decision) ? decision["verifiedSignals"] : void 0;
  return Object.values(isMembers(verifiedSignals) ? verifiedSignals : {}).some(
    (one) => isMembers(one) && itemsOf(one["approvals"]).length > 0 && !("notCounted" in one)
  );
}
function notesOnApprovals(decisions) {
  return decisions.some(isSilentOnPersons) ? [
    "It does not say which approver names the caller and the principal have: whether one of them approved it under another name is not known."
  ] : [];
}
function approvalsOf(verified2) {
  return "approvals" in verified2 ? list(verified2["approvals"]).map(members) : [];
}
var init_approvals = __esm({
  "src/core/verifier/approvals.ts"() {
    "use strict";
    init_canonical();
    init_evidence();
    init_request_hash();
    init_request_problem();
    init_instant();
    init_scope();
    init_signatures();
  }
});

// src/core/verifier/audit-event.ts
function checkAuditEvent(evidence, given) {
  const { event, signature } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("event signature", "The audit event signature is not valid", given, {
      artifact: "audit-event",
      text: isMembers(event) ? canonicalText(event) : void 0,
      signature
    })
  ];
}
var init_audit_event = __esm({
  "src/core/verifier/audit-event.ts"() {
    "use strict";
    init_evidence();
    init_signatures();
  }
});

// src/core/log/artifacts.ts
function isEntryOf(logged, artifact) {
  if (logged.hash !== artifact.hash) return void 0;
  if (logged.kind === artifact.kind) return { late: false };
  return logged.kind === LATE + artifact.kind ? { late: true } : void 0;
}
var hashed, stated, artifactEntry, LATE;
var init_artifacts = __esm({
  "src/core/log/artifacts.ts"() {
    "use strict";
    hashed = (kind) => (signedText, sha256Hex) => ({
      kind,
      hash: sha256Hex(signedText)
    });
    stated = (kind) => (hash) => ({ kind, hash });
    artifactEntry = {
      /** The hash covers the `payload` of an execution authorization. */
      authorization: hashed("authorization"),
      /** By its `receiptHash`. */
      receipt: stated("receipt"),
      /** By its `refusalRecordHash`. */
      refusal: stated("refusal"),
      /** The hash covers the `event`. */
      auditEvent: hashed("audit-event"),
      /** The hash covers one state of a change: its members without `signature`, `warnings` and `diff`. */
      governanceChange: hashed("governance-change"),
      /** The hash covers the `transition`. */
      intentTransition: hashed("intent-transition"),
      /** The hash covers the `confirmation`. */
      providerConfirmation: hashed("provider-confirmation"),
      /** The hash covers the `request`. */
      approvalRequest: hashed("approval-request"),
      /** The hash covers how it was closed: the members of `closed` without `signature`. */
      approvalRequestClose: hashed("approval-request-close"),
      /** The hash covers the `payload` of a signed approval. */
      approval: hashed("approval"),
      /** By the SHA-256 of the body as it was received. */
      webhook: stated("webhook")
    };
    LATE = "late-";
  }
});

// src/core/verifier/bundle-execution.ts
function readExecution(record, { sha256Hex }) {
  const id2 = string(record["businessTransactionId"]);
  const payload = members(members(record["authorization"])["payload"]);
  return {
    policy: {
      name: string(payload["policyName"]),
      version: string(payload["policyVersion"]),
      contentHash: string(payload["policyContentHash"])
    },
    authorization: {
      kind: "authorization",
      id: id2,
      entry: artifactEntry.authorization(canonicalize(payload), sha256Hex)
    },
    requests: readRequests(record, sha256Hex),
    approvals: readApprovals(record, sha256Hex),
    receipt: readReceipt(record, id2),
    confirmations: readConfirmations(record, sha256Hex)
  };
}
function readApprovals(record, sha256Hex) {
  const approvals = verifiedSignalsOf(record).flatMap(approvalsOf);
  const payloads = new Map(approvals.map(({ payload = null }) => [canonicalize(payload), members(payload)]));
  return Array.from(payloads, ([text3, { approvalId, approverId, keyId, requestHash: requestHash2 }]) => ({
    requestHash: requestHash2,
    part: { kind: "approval", id: string(approvalId), entry: artifactEntry.approval(text3, sha256Hex) },
    keyId: `${string(approverId)}:${string(keyId)}`
  }));
}
function readRequests(record, sha256Hex) {
  const requests = verifiedSignalsOf(record).flatMap(
    ({ request }) => request === void 0 ? [] : [members(request)]
  );
  const texts2 = new Map(requests.map((request) => [canonicalize(request), request]));
  return Array.from(texts2, ([text3, { requestId }]) => ({
    kind: "approval-request",
    id: string(requestId),
    entry: artifactEntry.approvalRequest(text3, sha256Hex)
  }));
}
function verifiedSignalsOf(record) {
  return list(record["executions"]).flatMap((execution) => {
    const decision = members(members(execution)["decision"]);
    return Object.values(members(decision["verifiedSignals"])).map((one) => members(one));
  });
}
function readReceipt(record, id2) {
  const newest = list(record["receipts"]).at(-1);
  if (newest === void 0) return void 0;
  const { receiptHash, transparency } = members(newest);
  const log = isMembers(transparency) ? transparency["log"] : void 0;
  return {
    part: { kind: "receipt", id: id2, entry: artifactEntry.receipt(string(receiptHash)) },
    log: typeof log === "string" ? log : void 0
  };
}
function readConfirmations({ confirmations = [] }, sha256Hex) {
  return list(confirmations).map((one) => {
    const confirmation = members(members(one)["confirmation"]);
    return {
      kind: "confirmation",
      id: string(confirmation["confirmationId"]),
      entry: artifactEntry.providerConfirmation(canonicalize(confirmation), sha256Hex)
    };
  });
}
var init_bundle_execution = __esm({
  "src/core/verifier/bundle-execution.ts"() {
    "use strict";
    init_canonical();
    init_artifacts();
    init_approvals();
    init_evidence();
  }
});

// src/core/bytes.ts
function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function concatBytes(...parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at2 = 0;
  for (const part of parts) {
    bytes.set(part, at2);
    at2 += part.length;
  }
  return bytes;
}
function equalBytes(one, other) {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
var init_bytes = __esm({
  "src/core/bytes.ts"() {
    "use strict";
  }
});

// src/core/log/cosignature.ts
function cosignedMessage(tree) {
  const { cosigner, timeSeconds, origin, start, end, hash } = tree;
  if (start !== 0 && timeSeconds !== 0)
    throw new Error("a cosignature of a later part of the tree has no time");
  if (hash.length !== 32) throw new Error(`the hash of a cosignature has ${hash.length} bytes, not 32`);
  return concatBytes(
    new TextEncoder().encode(LABEL),
    lengthAndName(cosigner, "cosigner"),
    uint64(timeSeconds, "time"),
    lengthAndName(origin, "origin"),
    uint64(start, "start"),
    uint64(end, "end"),
    hash
  );
}
function ed25519CosignedMessage(timeSeconds, checkpointText) {
  const time2 = wholeNumber(timeSeconds, "time");
  return new TextEncoder().encode(`cosignature/v1
time ${time2}
${checkpointText}`);
}
function readTimestampedSignature(bytes) {
  if (bytes.length < 8) throw new Error("the cosignature is shorter than its time");
  const time2 = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
  if (time2 > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error("the time of the cosignature is too great");
  return { timeSeconds: Number(time2), signature: bytes.subarray(8) };
}
function lengthAndName(name, what) {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length < 1 || bytes.length > 255)
    throw new Error(`the ${what} of a cosignature has ${bytes.length} bytes; it may have 1 to 255`);
  return Uint8Array.of(bytes.length, ...bytes);
}
function uint64(value, what) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(wholeNumber(value, what)));
  return bytes;
}
function wholeNumber(value, what) {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`the ${what} of a cosignature is not an integer of 0 or more`);
  return value;
}
var LABEL;
var init_cosignature = __esm({
  "src/core/log/cosignature.ts"() {
    "use strict";
    init_bytes();
    LABEL = "subtree/v1\n\0";
  }
});

// src/core/log/note.ts
function parseNote(note2) {
  const whole = wellFormedText(note2, "the note");
  const blank = whole.lastIndexOf("\n\n");
  if (blank === -1) throw new Error("the note has no blank line before its signatures");
  const signatures = whole.slice(blank + 2);
  if (!signatures.endsWith("\n"))
    throw new Error("the note does not end with a signature line and its newline");
  const lines = signatures.slice(0, -1).split("\n");
  if (lines.length > MAX_LINES)
    throw new Error(`the note has ${lines.length} signature lines; at most ${MAX_LINES} are read`);
  return { text: whole.slice(0, blank + 1), lines: lines.map(parseLine) };
}
function wellFormedText(input, what) {
  const text3 = typeof input === "string" ? input : decoded(input, what);
  if (!text3.isWellFormed()) throw new Error(`${what} is not valid UTF-8`);
  if (/[\u0000-\u0009\u000b-\u001f]/.test(text3)) throw new Error(`${what} holds a control character`);
  return text3;
}
function decoded(bytes, what) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${what} is not valid UTF-8`);
  }
}
function parseLine(line, index) {
  const which = `signature line ${index + 1}`;
  const [, name = "", text3 = ""] = LINE.exec(line) ?? [];
  if (!NAME.test(name)) throw new Error(`${which} is not an em dash, a key name and a signature`);
  const bytes = base64(text3);
  if (bytes === void 0) throw new Error(`${which} is not canonical base64`);
  if (bytes.length < 5) throw new Error(`${which} holds no more than a key id`);
  return { name, keyId: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) };
}
function verifierKey({ name, type, publicKey }, sha2562) {
  if (!NAME.test(name) || !name.isWellFormed())
    throw new Error("a key name is not empty and has no space, plus sign or control character");
  const { publicKeyBytes } = TYPES[type];
  if (publicKey.length !== publicKeyBytes)
    throw new Error(`the key '${name}' has ${publicKey.length} bytes; one for ${type} has ${publicKeyBytes}`);
  const hash = sha2562(concatBytes(new TextEncoder().encode(`${name}
`), typedKey({ type, publicKey })));
  return { name, keyId: toHex(hash.subarray(0, 4)), type, publicKey };
}
function parseVkey(text3, sha2562) {
  const [, name = "", keyId = "", encoded = ""] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text3) ?? [];
  if (!NAME.test(name) || !/^[0-9a-f]{8}$/.test(keyId))
    throw new Error("a verifier key is a name, 8 hex digits and base64, with a plus sign between them");
  const bytes = base64(encoded);
  if (bytes === void 0 || bytes.length === 0)
    throw new Error(`the verifier key '${name}' is not canonical base64`);
  const type = SIGNATURE_TYPES.find((known) => TYPES[known].byte === bytes[0]);
  if (type === void 0)
    throw new UnknownKeyType(
      `the verifier key '${name}' is of type 0x${toHex(bytes.subarray(0, 1))}, which is not known`
    );
  const key = verifierKey({ name, type, publicKey: bytes.slice(1) }, sha2562);
  if (key.keyId !== keyId) throw new Error(`the verifier key '${name}' has the id ${key.keyId}, not ${keyId}`);
  return key;
}
function verifiedLines(note2, keys, messageOf, { verifies }) {
  const found = /* @__PURE__ */ new Map();
  for (const line of note2.lines) {
    const key = keys.find(({ name, keyId }) => name === line.name && keyId === line.keyId);
    if (key === void 0) continue;
    const { algorithm, signatureBytes } = TYPES[key.type];
    const holds2 = line.signature.length === signatureBytes && verifies[algorithm]({ ...messageOf(key, line), publicKey: key.publicKey });
    if (!holds2) throw new Error(`the signature of ${key.name} (key id ${key.keyId}) does not hold`);
    if (!found.has(key)) found.set(key, { key, line });
  }
  return [...found.values()];
}
function typedKey({ type, publicKey }) {
  return concatBytes(Uint8Array.of(TYPES[type].byte), publicKey);
}
var TYPES, MAX_LINES, NAME, LINE, UnknownKeyType, SIGNATURE_TYPES;
var init_note = __esm({
  "src/core/log/note.ts"() {
    "use strict";
    init_base64();
    init_bytes();
    TYPES = {
      /** Over the text of the note. */
      ed25519: { byte: 1, algorithm: "ed25519", publicKeyBytes: 32, signatureBytes: 64 },
      /** A checkpoint is signed with the time (tlog-cosignature): the signature follows 8 bytes of time. */
      "ed25519-cosignature": { byte: 4, algorithm: "ed25519", publicKeyBytes: 32, signatureBytes: 8 + 64 },
      "ml-dsa-44-cosignature": {
        byte: 6,
        algorithm: "ml-dsa-44",
        publicKeyBytes: 1312,
        signatureBytes: 8 + 2420
      }
    };
    MAX_LINES = 32;
    NAME = /^[^\p{White_Space}+\u0000-\u001f]+$/u;
    LINE = /^— ([^ ]+) ([A-Za-z0-9+/=]+)$/;
    UnknownKeyType = class extends Error {
    };
    SIGNATURE_TYPES = Object.keys(TYPES);
  }
});

// src/core/log/checkpoint.ts
function parseCheckpoint(text3) {
  if (!text3.endsWith("\n")) throw new Error("the checkpoint does not end with a newline");
  const lines = text3.slice(0, -1).split("\n");
  const [origin = "", size = "", encoded = ""] = lines;
  if (lines.length < 3 || lines.includes(""))
    throw new Error("the checkpoint has no three lines, or an empty one");
  const root = parseHash(encoded, "the root hash of the checkpoint");
  return { origin, size: parseInteger(size, "the tree size of the checkpoint"), root };
}
function readCheckpoint(note2) {
  return parseCheckpoint(parseNote(note2).text);
}
function parseInteger(text3, what) {
  if (!/^(0|[1-9][0-9]*)$/.test(text3))
    throw new Error(`${what} is not a decimal number without leading zeros`);
  const value = Number(text3);
  if (!Number.isSafeInteger(value)) throw new Error(`${what} is above 2^53 - 1`);
  return value;
}
function parseHash(text3, what) {
  const hash = base64(text3);
  if (hash?.length !== 32) throw new Error(`${what} is not 32 bytes of base64`);
  return hash;
}
function openCheckpoint(note2, { logs, witnesses }, crypto) {
  const parsed = parseNote(note2);
  const checkpoint = parseCheckpoint(parsed.text);
  const ofLog = logs.filter(({ name }) => name === checkpoint.origin);
  const signedBy = signersOf(parsed, checkpoint, ofLog, crypto);
  if (signedBy.length === 0)
    throw new Error(`the checkpoint is not signed by a trusted key of the log '${checkpoint.origin}'`);
  return { ...checkpoint, signedBy, cosignedBy: signersOf(parsed, checkpoint, witnesses, crypto) };
}
function signersOf(note2, checkpoint, keys, crypto) {
  const messageOf = (key, { signature }) => {
    if (key.type === "ed25519") return { message: new TextEncoder().encode(note2.text), signature };
    const { timeSeconds, signature: timed } = readTimestampedSignature(signature);
    const message2 = key.type === "ed25519-cosignature" ? ed25519CosignedMessage(timeSeconds, note2.text) : cosignedMessage({ cosigner: key.name, timeSeconds, ...treeOf(checkpoint) });
    return { message: message2, signature: timed };
  };
  return verifiedLines(note2, keys, messageOf, crypto).map(
    ({ key, line }) => key.type === "ed25519" ? { key } : { key, timeSeconds: readTimestampedSignature(line.signature).timeSeconds }
  );
}
function treeOf({ origin, size, root }) {
  return { origin, start: 0, end: size, hash: root };
}
var PATH_MAX;
var init_checkpoint = __esm({
  "src/core/log/checkpoint.ts"() {
    "use strict";
    init_batch_head();
    init_base64();
    init_cosignature();
    init_note();
    PATH_MAX = 53;
  }
});

// src/core/log/entry.ts
function parseEntry(text3) {
  const [version, kind = "", hash = "", ...rest] = text3.split(" ");
  if (version !== "countersign/1") throw new Error("the entry does not begin with countersign/1");
  if (!KIND.test(kind)) throw new Error("the kind of the entry is not in lowercase letters");
  if (!HASH2.test(hash)) throw new Error("the hash of the entry is not 64 lowercase hex digits");
  const streams = rest.map(parseStream);
  const order = streams.map(({ stream }) => streamNames.indexOf(stream));
  if (order.some((position, i) => i > 0 && position <= order[i - 1]))
    throw new Error("the streams of the entry are not each once and in order");
  return { kind, hash, streams };
}
function parseStream(text3) {
  const [, name = "", tag = "", digits = ""] = STREAM.exec(text3) ?? [];
  const stream = streamNames.find((known) => known === name);
  const n = Number(digits);
  if (stream === void 0 || !Number.isSafeInteger(n))
    throw new Error("a stream of the entry is not a known name, a tag of 16 hex digits and a number");
  return { stream, tag, n };
}
var streamNames, KIND, HASH2, STREAM;
var init_entry = __esm({
  "src/core/log/entry.ts"() {
    "use strict";
    init_bytes();
    streamNames = ["caller", "capability", "policy", "approver"];
    KIND = /^[a-z]+(-[a-z]+)*$/;
    HASH2 = /^[0-9a-f]{64}$/;
    STREAM = /^([a-z]+)=([0-9a-f]{16}):([1-9][0-9]{0,15})$/;
  }
});

// src/core/log/origin.ts
function readOrigin(origin) {
  const [, name, number] = /^(.+)\/log\/([1-9][0-9]{0,8})$/.exec(origin) ?? [];
  return name === void 0 ? void 0 : { name, number: Number(number) };
}
var init_origin = __esm({
  "src/core/log/origin.ts"() {
    "use strict";
  }
});

// src/core/log/proof.ts
function parseProof(file) {
  const text3 = wellFormedText(file, "the proof");
  const blank = text3.indexOf("\n\n");
  if (blank === -1) throw new Error("the proof has no blank line before its checkpoint");
  const [header, ...lines] = text3.slice(0, blank).split("\n");
  if (header !== HEADER) throw new Error(`the first line of the proof is not '${HEADER}'`);
  const extra = lines[0]?.startsWith("extra ") === true ? extraOf(lines.shift()) : void 0;
  const [, index] = /^index (.*)$/.exec(lines.shift() ?? "") ?? [];
  if (index === void 0) throw new Error("the proof has no index line where it belongs");
  if (lines.length > PATH_MAX)
    throw new Error(`the path of the proof has ${lines.length} hashes; at most ${PATH_MAX} are read`);
  return {
    index: parseInteger(index, "the index of the proof"),
    path: lines.map((line, height) => parseHash(line, `path hash ${height} of the proof`)),
    checkpoint: text3.slice(blank + 2),
    ...extra && { extra }
  };
}
function extraOf(line) {
  const extra = base64(line.slice("extra ".length));
  if (extra === void 0 || extra.length === 0)
    throw new Error("the extra line of the proof is not canonical base64");
  return extra;
}
var HEADER;
var init_proof = __esm({
  "src/core/log/proof.ts"() {
    "use strict";
    init_base64();
    init_checkpoint();
    init_note();
    HEADER = "c2sp.org/tlog-proof@v1";
  }
});

// src/core/log/policy.ts
function policyOfKeys(keys) {
  return { logs: keys.map((key) => ({ key })), witnesses: [], quorum: "none" };
}
function parsePolicy(file, sha2562) {
  const logs = [];
  const witnesses = [];
  const defined = /* @__PURE__ */ new Map();
  const inGroups = /* @__PURE__ */ new Set();
  let quorum;
  const keyOf = (vkey, types, others) => {
    const key = parseVkey(utf8(vkey), sha2562);
    if (!types.includes(key.type))
      throw new Error(`a key of type ${key.type} cannot sign here; one of type ${types.join(" or ")} can`);
    const same = others.find((other) => equalBytes(other.key.publicKey, key.publicKey));
    if (same !== void 0) throw new Error(`the public key is that of '${same.key.name}' already`);
    return key;
  };
  const lookUp = (name) => {
    const found = defined.get(name);
    if (found === void 0) throw new Error(`'${utf8(name)}' is not defined on a line before`);
    return found;
  };
  const define = (name, made) => {
    if (name === "none") throw new Error("the name 'none' is reserved");
    if (defined.has(name)) throw new Error(`'${utf8(name)}' is defined twice`);
    if (defined.size >= 2 * MAX_OF_A_KIND) throw new Error("there are too many witnesses and groups");
    defined.set(name, made);
    return made;
  };
  const keywords = {
    log([vkey, url, ...others]) {
      if (vkey === void 0 || others.length > 0) throw new Error("a log has a key and at most a URL");
      if (logs.length >= MAX_OF_A_KIND) throw new Error("there are too many logs");
      logs.push({ key: keyOf(vkey, LOG_TYPES, logs), ...urlOf(url) });
    },
    witness([name, vkey, url, ...others]) {
      if (name === void 0 || vkey === void 0 || others.length > 0)
        throw new Error("a witness has a name, a key and at most a URL");
      const key = keyOf(vkey, WITNESS_TYPES, witnesses);
      witnesses.push(define(name, { name: utf8(name), key, ...urlOf(url) }));
    },
    group([name, count2, ...names2]) {
      if (name === void 0 || count2 === void 0 || names2.length === 0)
        throw new Error("a group has a name, all, any or a number, and members");
      const members2 = names2.map((member) => {
        const found = lookUp(member);
        if (inGroups.has(member)) throw new Error(`'${utf8(member)}' is a member of a group already`);
        inGroups.add(member);
        return found;
      });
      define(name, { name: utf8(name), threshold: thresholdOf(utf8(count2), members2.length), members: members2 });
    },
    quorum([name, ...others]) {
      if (name === void 0 || others.length > 0) throw new Error("a quorum is one name");
      if (quorum !== void 0) throw new Error("there is a quorum on a line before");
      quorum = name === "none" ? "none" : lookUp(name);
    }
  };
  for (const [i, line] of octets(file).split("\n").entries()) {
    try {
      if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) throw new Error("it holds a control character");
      const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== "");
      if (keyword === void 0 || keyword.startsWith("#")) continue;
      if (!Object.hasOwn(keywords, keyword)) throw new Error(`'${utf8(keyword)}' is not one of its keywords`);
      keywords[keyword](items);
    } catch (error) {
      throw new Error(`line ${i + 1} of the policy: ${error.message}`, { cause: error });
    }
  }
  if (quorum === void 0) throw new Error("the policy has no quorum line");
  return { logs, witnesses, quorum };
}
function thresholdOf(count2, members2) {
  if (count2 === "all") return members2;
  const threshold = count2 === "any" ? 1 : parseInteger(count2, "the number of members");
  if (threshold < 1 || threshold > members2)
    throw new Error(`the number of members must be from 1 to ${members2}, and is ${threshold}`);
  return threshold;
}
function octets(file) {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
function utf8(item) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Uint8Array.from(item, (character) => character.charCodeAt(0))
  );
}
function openByPolicy(note2, policy, crypto) {
  const keys = {
    logs: policy.logs.map(({ key }) => key),
    witnesses: policy.witnesses.map(({ key }) => key)
  };
  const opened = openCheckpoint(note2, keys, crypto);
  const cosignedBy = opened.cosignedBy.map((signer) => ({
    name: policy.witnesses.find(({ key }) => key === signer.key).name,
    ...signer
  }));
  if (!meetsQuorum(policy.quorum, opened.cosignedBy)) {
    const names2 = cosignedBy.map(({ name }) => `'${name}'`).join(", ");
    throw new Error(
      `the quorum '${nameOf(policy.quorum)}' is not met: the checkpoint is cosigned by ${names2 || "no witness"}`
    );
  }
  return { ...opened, cosignedBy };
}
function meetsQuorum(quorum, cosignedBy) {
  if (quorum === "none") return true;
  if ("key" in quorum) return cosignedBy.some(({ key }) => key === quorum.key);
  return quorum.members.filter((member) => meetsQuorum(member, cosignedBy)).length >= quorum.threshold;
}
var LOG_TYPES, WITNESS_TYPES, MAX_OF_A_KIND, urlOf, nameOf;
var init_policy = __esm({
  "src/core/log/policy.ts"() {
    "use strict";
    init_bytes();
    init_checkpoint();
    init_note();
    LOG_TYPES = ["ed25519", "ml-dsa-44-cosignature"];
    WITNESS_TYPES = ["ed25519-cosignature", "ml-dsa-44-cosignature"];
    MAX_OF_A_KIND = 256;
    urlOf = (url) => url === void 0 ? {} : { url: utf8(url) };
    nameOf = (quorum) => quorum === "none" ? quorum : quorum.name;
  }
});

// src/core/verifier/unusable.ts
var Unusable;
var init_unusable = __esm({
  "src/core/verifier/unusable.ts"() {
    "use strict";
    Unusable = class extends Error {
      constructor(message2) {
        super(message2);
        this.name = "Unusable";
      }
    };
  }
});

// src/core/verifier/parse.ts
function parseEvidence(text3, what) {
  if (text3.startsWith("c2sp.org/tlog-proof@"))
    throw new Unusable(
      `${what} is a proof of the log alone. Verify the bundle of the execution, which holds its proofs (GET /trust-records/{id}?bundle), or fetch and check one proof with \`countersign log proof\`.`
    );
  if (text3.startsWith("\uFEFF"))
    throw new Unusable(
      `${what} is not JSON with exactly one reading (it begins with a byte order mark): save it as UTF-8 without one.`
    );
  try {
    return parseJsonText(text3, DEPTH_MAX2);
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw new Unusable(
      `${what} is not JSON with exactly one reading (${error.message}): save it as it was answered.`
    );
  }
}
var DEPTH_MAX2;
var init_parse = __esm({
  "src/core/verifier/parse.ts"() {
    "use strict";
    init_text();
    init_unusable();
    DEPTH_MAX2 = 80;
  }
});

// src/core/verifier/log-trust.ts
function readLogTrust(given, sha2562) {
  if (typeof given !== "string") return described(given, sha2562);
  if (given.startsWith("{")) return described(parseEvidence(given, "The log description"), sha2562);
  try {
    return { policy: parsePolicy(given, sha2562), everyType: false };
  } catch (error) {
    throw new Unusable(
      `The log description does not begin with '{' and is no policy of logs either: ${errorText(error)}.`
    );
  }
}
function described(description, sha2562) {
  const logs = isMembers(description) ? description["logs"] : void 0;
  if (!Array.isArray(logs))
    throw new Unusable(
      "The log description has no list `logs`: save the answer of GET /.well-known/countersign-log."
    );
  const keys = logs.flatMap((log, i) => keysOfLog(log, `Log ${i + 1}`, sha2562));
  if (keys.length === 0)
    throw new Unusable("The log description holds no key of a known type, so nothing can be verified by it.");
  return { policy: policyOfKeys(keys), everyType: true };
}
function keysOfLog(log, which, sha2562) {
  const { origin, vkeys } = isMembers(log) ? log : {};
  if (typeof origin !== "string" || !Array.isArray(vkeys))
    throw new Unusable(`${which} of the log description has no \`origin\` or no list \`vkeys\`.`);
  return vkeys.flatMap((vkey) => {
    try {
      const key = parseVkey(typeof vkey === "string" ? vkey : "", sha2562);
      if (key.name !== origin) throw new Error(`the key '${key.name}' is of another name`);
      if (key.type === "ed25519-cosignature") throw new Error("a key for cosignatures signs for no log");
      return key;
    } catch (error) {
      if (error instanceof UnknownKeyType) return [];
      throw new Unusable(`${which} of the log description has a wrong key: ${errorText(error)}.`);
    }
  });
}
function openTrusted(note2, trust, crypto) {
  const { text: text3, lines } = parseNote(note2);
  const { origin } = parseCheckpoint(text3);
  const named2 = JSON.stringify(origin);
  if (trust === void 0) throw new LogKeyNotGiven(origin, `no description of the log ${named2} is given`);
  const { policy, everyType } = trust;
  const keys = policy.logs.map(({ key }) => key).filter(({ name }) => name === origin);
  const isGiven = (keyId) => keys.some((key) => key.keyId === keyId);
  const byUnknown = lines.some(({ name, keyId }) => name === origin && !isGiven(keyId));
  const bySome = lines.some(({ name, keyId }) => name === origin && isGiven(keyId));
  const notGiven = () => new LogKeyNotGiven(origin, `no key of the log ${named2} that signed its checkpoint is given`);
  if (!bySome && (byUnknown || keys.length === 0)) throw notGiven();
  const opened = openByPolicy(note2, policy, crypto);
  const signedBy = new Set(opened.signedBy.map(({ key }) => key.type));
  const unsigned = everyType ? keys.find(({ type }) => !signedBy.has(type)) : void 0;
  if (unsigned === void 0) return { ...opened, witnesses: opened.cosignedBy.map(({ name }) => name) };
  if (byUnknown) throw notGiven();
  throw new Error(`the checkpoint is not signed by the ${ALGORITHMS2[unsigned.type]} key of its log`);
}
var LogKeyNotGiven, ALGORITHMS2;
var init_log_trust = __esm({
  "src/core/verifier/log-trust.ts"() {
    "use strict";
    init_error_text();
    init_checkpoint();
    init_note();
    init_policy();
    init_evidence();
    init_parse();
    init_unusable();
    LogKeyNotGiven = class extends Error {
      origin;
      constructor(origin, message2) {
        super(message2);
        this.origin = origin;
      }
    };
    ALGORITHMS2 = {
      ed25519: "Ed25519",
      "ed25519-cosignature": "Ed25519",
      "ml-dsa-44-cosignature": "ML-DSA-44"
    };
  }
});

// src/core/verifier/bundle-log.ts
function checkProofs(carried, due, { trust, crypto, onUsed }) {
  const places = /* @__PURE__ */ new Map();
  const notes = [];
  const proofs = Array.isArray(carried) ? readProofs(carried) : void 0;
  const checkpoint = checkOpen("log checkpoint", "The checkpoint of its proofs is not one of its log", () => {
    for (const note2 of checkpointsOf(proofs ?? [])) {
      const { origin, size, signedBy, cosignedBy, witnesses } = openTrusted(note2, trust, crypto);
      for (const { key } of [...signedBy, ...cosignedBy]) onUsed(key);
      const seconds = signedBy.find(({ timeSeconds = 0 }) => timeSeconds > 0)?.timeSeconds;
      notes.push(noteOn({ origin, size, seconds, witnesses }));
    }
  });
  const inclusion = check("log proofs", "Its proofs do not show that it is in the log", () => {
    list(carried);
    const { parts, promises } = due();
    for (const part of parts) places.set(part, placeOf(part, proofs ?? [], crypto));
    for (const [part, log] of promises) requirePromised(part, log, places.get(part));
    if ((proofs ?? []).length > parts.length) throw new Error("a proof is of nothing that it holds");
    return true;
  });
  const order = check("log order", "The log does not show the order of its parts", () => {
    const { parts, order: pairs } = due();
    if (places.size < parts.length) throw new Error("not every part is shown to be in the log");
    for (const [first, second] of pairs) requireOrder(first, second, places);
    return true;
  });
  for (const [part, { late }] of places)
    if (late)
      notes.push(`The log has ${nameOf2(part)} as a late entry: its place does not show when it was made.`);
  return { checks: [checkpoint, ...[inclusion, order].map((one) => openAs(checkpoint, one))], notes };
}
function checkOpen(name, problem, holds2) {
  let notGiven;
  const made = check(name, problem, () => {
    try {
      holds2();
    } catch (error) {
      if (!(error instanceof LogKeyNotGiven)) throw error;
      notGiven = error;
    }
    return true;
  });
  if (notGiven === void 0) return made;
  return { name, problem: `It cannot be checked: ${notGiven.message}.`, missingLog: notGiven.origin };
}
function openAs({ problem, missingLog }, made) {
  if (made.problem !== void 0 || missingLog === void 0) return made;
  return { name: made.name, problem, missingLog };
}
function readProofs(carried) {
  const checkpoints = /* @__PURE__ */ new Map();
  return carried.map((one) => {
    const { kind, id: id2, proof: file } = isMembers(one) ? one : {};
    try {
      const proof = parseProof(string(file));
      const checkpoint = checkpoints.get(proof.checkpoint) ?? readCheckpoint(proof.checkpoint);
      checkpoints.set(proof.checkpoint, checkpoint);
      return { kind, id: id2, read: { proof, checkpoint } };
    } catch (error) {
      return { kind, id: id2, read: { problem: errorText(error) } };
    }
  });
}
function checkpointsOf(proofs) {
  const notes = /* @__PURE__ */ new Map();
  for (const { read } of proofs) {
    if (!("proof" in read)) continue;
    const { origin } = read.checkpoint;
    const note2 = read.proof.checkpoint;
    if ((notes.get(origin) ?? note2) !== note2)
      throw new Error(`the proofs are under different checkpoints of the log ${JSON.stringify(origin)}`);
    notes.set(origin, note2);
  }
  const [first, ...others] = notes.keys();
  if (first === void 0) throw new Error("there is no proof that can be read");
  const other = others.find((origin) => !areOfOneName(first, origin));
  if (other !== void 0)
    throw new Error(`the logs ${JSON.stringify(first)} and ${JSON.stringify(other)} are not of one name`);
  return [...notes.values()];
}
function placeOf(part, proofs, { sha256: sha2562 }) {
  const [own, another] = proofs.filter(({ kind, id: id2 }) => kind === part.kind && id2 === part.id);
  if (own === void 0) throw new Error(`there is no proof of ${nameOf2(part)}`);
  if (another !== void 0) throw new Error(`there are two proofs of ${nameOf2(part)}`);
  if ("problem" in own.read)
    throw new Error(`the proof of ${nameOf2(part)} cannot be read: ${own.read.problem}`);
  const { proof, checkpoint } = own.read;
  const { index, path, extra } = proof;
  if (extra === void 0) throw new Error(`the proof of ${nameOf2(part)} holds no entry`);
  const logged = isEntryOf(parseEntry(new TextDecoder().decode(extra)), part.entry);
  if (logged === void 0) throw new Error(`the proof of ${nameOf2(part)} is of another artifact`);
  const { origin, size, root } = checkpoint;
  const found = rootOfInclusion({ leafHash: leafHash(extra, sha2562), index, size, path }, sha2562);
  if (!equalBytes(found, root))
    throw new Error(`the proof of ${nameOf2(part)} does not lead to the root of its checkpoint`);
  return { origin, index, late: logged.late };
}
function requirePromised(part, log, { origin }) {
  const isLater = areOfOneName(log, origin) && numberOf(log) < numberOf(origin);
  if (origin !== log && !isLater)
    throw new Error(
      `${nameOf2(part)} is promised to the log ${JSON.stringify(log)} and proven to be in ${JSON.stringify(origin)}`
    );
}
function requireOrder(first, second, places) {
  const [before, after] = [places.get(first), places.get(second)];
  if (before.late || after.late) return;
  const logs = numberOf(before.origin) - numberOf(after.origin);
  const isBefore = before.origin === after.origin ? before.index < after.index : logs < 0;
  if (!isBefore) throw new Error(`${nameOf2(second)} does not stand behind ${nameOf2(first)}`);
}
function areOfOneName(one, other) {
  const name = readOrigin(one)?.name;
  return name !== void 0 && name === readOrigin(other)?.name;
}
function noteOn(log) {
  const { origin, size, seconds, witnesses } = log;
  const at2 = seconds === void 0 || seconds > LAST_SECOND ? "" : ` of ${new Date(seconds * 1e3).toISOString().replace(".000Z", "Z")}`;
  const cosigned = witnesses.length === 0 ? "" : `, cosigned by the witnesses ${witnesses.map((name) => JSON.stringify(name)).join(", ")}`;
  return `The log ${JSON.stringify(origin)} had ${size} entries at its checkpoint${at2}${cosigned}.`;
}
var numberOf, NAMES, nameOf2, LAST_SECOND;
var init_bundle_log = __esm({
  "src/core/verifier/bundle-log.ts"() {
    "use strict";
    init_bytes();
    init_error_text();
    init_artifacts();
    init_checkpoint();
    init_entry();
    init_note();
    init_origin();
    init_proof();
    init_tree();
    init_evidence();
    init_log_trust();
    numberOf = (origin) => readOrigin(origin)?.number ?? Number.NaN;
    NAMES = {
      authorization: "authorization",
      receipt: "receipt",
      "approval-request": "approval request",
      approval: "approval",
      change: "governance change",
      confirmation: "provider confirmation"
    };
    nameOf2 = ({ kind, id: id2 }) => kind === "authorization" || kind === "receipt" ? `the ${NAMES[kind]}` : `the ${NAMES[kind]} ${JSON.stringify(id2)}`;
    LAST_SECOND = 253402300799;
  }
});

// src/core/verifier/governance-change.ts
function shownOf(change) {
  const { changeId, kind, target, proposed, reason, proposedBy, proposedAt } = change;
  return { changeId, kind, target, proposed, reason, proposedBy, proposedAt };
}
function signedMembersOf(change) {
  const { signature: _, warnings: _1, diff: _2, ...signed2 } = change;
  return signed2;
}
function checkGovernanceChange(evidence, given) {
  const change = isMembers(evidence) ? evidence : {};
  const { signature } = change;
  const signed2 = canonicalText(signedMembersOf(change));
  return [
    check("change hash", "The change hash does not match what was proposed", () => {
      return given.sha256Hex(canonicalize(shownOf(change))) === change["changeHash"];
    }),
    checkEd25519("change signature", "The signature of the change is not valid", given, {
      artifact: "governance-change",
      text: signed2,
      signature
    }),
    check("resolution", "The change is not resolved as its status says", () => isResolved(change)),
    checkSigned(
      "step-up authorization",
      "The step-up authorization is not one of this resolution",
      given,
      (crypto) => isSteppedUp(change, crypto)
    ),
    ...impactChecks(change, given)
  ];
}
function impactChecks(change, { sha256Hex }) {
  const { impactReport, stepUpAuthorization } = change;
  const payload = isMembers(stepUpAuthorization) ? stepUpAuthorization["payload"] : void 0;
  const impactHash = isMembers(payload) ? payload["impactHash"] : void 0;
  if (impactReport === void 0 && impactHash === void 0) return [];
  return [
    check("impact report", "The impact report is not the one that the step-up covers", () => {
      const { changeId, changeHash } = members(impactReport);
      const isOfThis = string(changeId) === change["changeId"] && string(changeHash) === change["changeHash"];
      return change["kind"] === "policy" && isOfThis && sha256Hex(canonicalize(members(impactReport))) === impactHash;
    })
  ];
}
function isResolved(change) {
  const { status: status2, resolvedBy, resolvedAt, rejectionReason, proposedBy } = change;
  if (status2 === "PENDING_APPROVAL")
    return [resolvedBy, resolvedAt, rejectionReason].every((member) => member === void 0);
  return ACTIONS.has(status2) && // Nobody checks what he made.
  string(resolvedBy) !== string(proposedBy) && !Number.isNaN(instantMs(string(resolvedAt))) && (rejectionReason === void 0 || status2 === "REJECTED" && typeof rejectionReason === "string");
}
function isSteppedUp(change, crypto) {
  const { status: status2, stepUpAuthorization } = change;
  if (status2 === "PENDING_APPROVAL") return stepUpAuthorization === void 0;
  const { payload, keyId, algorithm, signature, webauthn } = members(stepUpAuthorization);
  const { version, nonce, changeId, changeHash, action, authorizedAt, expiresAt } = members(payload);
  const [from, to] = [instantMs(string(authorizedAt)), instantMs(string(expiresAt))];
  const isBound = version === 1 && string(nonce) !== "" && string(changeId) === change["changeId"] && string(changeHash) === change["changeHash"] && string(action) === ACTIONS.get(status2) && from < to && to - from <= STEP_UP_LIFETIME_MAX_MS && instantMs(string(change["resolvedAt"])) < to;
  const carried = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature), webauthn };
  if (!isBound) return false;
  requireHumanAlgorithm(carried.algorithm);
  const known = stepUpKeys(change, crypto);
  return known.length === 0 || known.some((id2) => {
    const revokedAt = crypto.humanKey(id2)?.revokedAt ?? null;
    return (revokedAt === null || instantMs(string(change["resolvedAt"])) < instantMs(revokedAt)) && crypto.verifySignature("step-up", canonicalize(payload), { ...carried, keyId: id2 });
  });
}
function stepUpKeys({ resolvedBy, stepUpAuthorization }, crypto) {
  if (typeof resolvedBy !== "string") return [];
  const keyId = isMembers(stepUpAuthorization) ? stepUpAuthorization["keyId"] : void 0;
  const names2 = /* @__PURE__ */ new Set(["step-up", ...typeof keyId === "string" ? [keyId] : []]);
  return Array.from(names2, (name) => `${resolvedBy}:${name}`).filter(
    (id2) => crypto.humanKey(id2) !== void 0
  );
}
function missingStepUpKey(change, crypto) {
  const { resolvedBy, stepUpAuthorization } = change;
  if (stepUpAuthorization === void 0 || typeof resolvedBy !== "string") return void 0;
  return stepUpKeys(change, crypto).length > 0 ? void 0 : `${resolvedBy}:step-up`;
}
function notesOnChange(change, crypto) {
  const due = missingStepUpKey(change, crypto);
  const { warnings = [] } = change;
  const isAdvised = "diff" in change || !(Array.isArray(warnings) && warnings.length === 0);
  return [
    ...due === void 0 ? [] : [
      `The signature of the step-up authorization was not checked: no key ${JSON.stringify(due)} is given.`
    ],
    ...isAdvised ? ["Nothing signs the warnings and the diff of a change: they are advice of when it was proposed."] : []
  ];
}
var STEP_UP_LIFETIME_MAX_MS, ACTIONS;
var init_governance_change = __esm({
  "src/core/verifier/governance-change.ts"() {
    "use strict";
    init_canonical();
    init_evidence();
    init_instant();
    init_signatures();
    STEP_UP_LIFETIME_MAX_MS = 12e4;
    ACTIONS = /* @__PURE__ */ new Map([
      ["APPROVED", "approve"],
      ["REJECTED", "reject"]
    ]);
  }
});

// node_modules/@noble/hashes/_u64.js
function fromBig(n, le = false) {
  if (le)
    return { h: Number(n & U32_MASK64), l: Number(n >> _32n & U32_MASK64) };
  return { h: Number(n >> _32n & U32_MASK64) | 0, l: Number(n & U32_MASK64) | 0 };
}
function split(lst, le = false) {
  const len = lst.length;
  let Ah = new Uint32Array(len);
  let Al = new Uint32Array(len);
  for (let i = 0; i < len; i++) {
    const { h, l } = fromBig(lst[i], le);
    [Ah[i], Al[i]] = [h, l];
  }
  return [Ah, Al];
}
function setU64FromNum(view, byteOffset, n, isLE2) {
  const h = fromNumH(n);
  const l = fromNumL(n);
  view.setUint32(byteOffset, isLE2 ? l : h, isLE2);
  view.setUint32(byteOffset + 4, isLE2 ? h : l, isLE2);
}
function add(Ah, Al, Bh, Bl) {
  const l = (Al >>> 0) + (Bl >>> 0);
  return { h: Ah + Bh + (l / 2 ** 32 | 0) | 0, l: l | 0 };
}
var U32_MASK64, _32n, fromNumH, fromNumL, shrSH, shrSL, rotrSH, rotrSL, rotrBH, rotrBL, add3L, add3H, add4L, add4H, add5L, add5H;
var init_u64 = __esm({
  "node_modules/@noble/hashes/_u64.js"() {
    U32_MASK64 = /* @__PURE__ */ (() => BigInt(2 ** 32 - 1))();
    _32n = /* @__PURE__ */ BigInt(32);
    fromNumH = (n) => n / 2 ** 32 | 0;
    fromNumL = (n) => n >>> 0;
    shrSH = (h, _l, s) => h >>> s;
    shrSL = (h, l, s) => h << 32 - s | l >>> s;
    rotrSH = (h, l, s) => h >>> s | l << 32 - s;
    rotrSL = (h, l, s) => h << 32 - s | l >>> s;
    rotrBH = (h, l, s) => h << 64 - s | l >>> s - 32;
    rotrBL = (h, l, s) => h >>> s - 32 | l << 64 - s;
    add3L = (Al, Bl, Cl) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0);
    add3H = (low, Ah, Bh, Ch) => Ah + Bh + Ch + (low / 2 ** 32 | 0) | 0;
    add4L = (Al, Bl, Cl, Dl) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0) + (Dl >>> 0);
    add4H = (low, Ah, Bh, Ch, Dh) => Ah + Bh + Ch + Dh + (low / 2 ** 32 | 0) | 0;
    add5L = (Al, Bl, Cl, Dl, El) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0) + (Dl >>> 0) + (El >>> 0);
    add5H = (low, Ah, Bh, Ch, Dh, Eh) => Ah + Bh + Ch + Dh + Eh + (low / 2 ** 32 | 0) | 0;
  }
});

// node_modules/@noble/hashes/utils.js
function isBytes(a) {
  return a instanceof Uint8Array || ArrayBuffer.isView(a) && a.constructor.name === "Uint8Array" && "BYTES_PER_ELEMENT" in a && a.BYTES_PER_ELEMENT === 1;
}
function anumber(n, title = "") {
  if (typeof n !== "number")
    throw new TypeError(atitle(title) + "expected number, got " + typeof n);
  if (!Number.isSafeInteger(n) || n < 0)
    throw new RangeError(atitle(title) + "expected integer >= 0, got " + n);
  return n;
}
function abool(value, title = "") {
  if (typeof value !== "boolean")
    throw new TypeError(atitle(title) + "expected boolean, got type=" + typeof value);
  return value;
}
function abytes(value, length, title = "") {
  if (isBytes(value) && (length === void 0 || value.length === length))
    return value;
  if (length !== void 0)
    anumber(length, "length");
  const bytes = isBytes(value);
  const ofLen = length !== void 0 ? ` of length ${length}` : "";
  const got = bytes ? `length=${value.length}` : `type=${typeof value}`;
  const message2 = atitle(title) + "expected Uint8Array" + ofLen + ", got " + got;
  if (!bytes)
    throw new TypeError(message2);
  throw new RangeError(message2);
}
function ahash(h) {
  if (typeof h !== "function" || typeof h.create !== "function")
    throw new TypeError("expected hash wrapped by utils.createHasher");
  anumber(h.outputLen);
  anumber(h.blockLen);
  if (h.outputLen < 1 || h.blockLen < 1)
    throw new Error("hash blockLen / outputLen must be >= 1");
}
function aexists(instance, checkFinished = true) {
  if (instance.destroyed)
    throw new Error("hash was destroyed");
  if (checkFinished && instance.finished)
    throw new Error("digest() was already called");
}
function aoutput(out, instance) {
  abytes(out, void 0, "output");
  const min = instance.outputLen;
  if (!(out.length >= min)) {
    throw new RangeError('"output" expected length >= ' + min);
  }
}
function u32(arr) {
  return new Uint32Array(arr.buffer, arr.byteOffset, Math.floor(arr.byteLength / 4));
}
function clean(...arrays) {
  for (let i = 0; i < arrays.length; i++) {
    arrays[i].fill(0);
  }
}
function createView(arr) {
  return new DataView(arr.buffer, arr.byteOffset, arr.byteLength);
}
function rotr(word, shift) {
  return word << 32 - shift | word >>> shift;
}
function byteSwap(word) {
  return word << 24 & 4278190080 | word << 8 & 16711680 | word >>> 8 & 65280 | word >>> 24 & 255;
}
function byteSwap32(arr) {
  for (let i = 0; i < arr.length; i++) {
    arr[i] = byteSwap(arr[i]);
  }
  return arr;
}
function bytesToHex(bytes) {
  abytes(bytes);
  if (hasHexBuiltin)
    return bytes.toHex();
  let hex = "";
  for (let i = 0; i < bytes.length; i++) {
    hex += hexes[bytes[i]];
  }
  return hex;
}
function asciiToBase16(ch) {
  return ch >= 48 && ch <= 57 ? ch - 48 : ch >= 65 && ch <= 70 ? ch - (65 - 10) : ch >= 97 && ch <= 102 ? ch - (97 - 10) : void 0;
}
function hexToBytes(hex) {
  if (typeof hex !== "string")
    throw new TypeError("hex string expected, got " + typeof hex);
  if (hasHexBuiltin) {
    try {
      return Uint8Array.fromHex(hex);
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new RangeError(error.message);
      throw error;
    }
  }
  const hl = hex.length;
  const al = hl / 2;
  if (hl % 2)
    throw new RangeError("hex string expected, got unpadded hex of length " + hl);
  const array = new Uint8Array(al);
  for (let ai = 0, hi = 0; ai < al; ai++, hi += 2) {
    const n1 = asciiToBase16(hex.charCodeAt(hi));
    const n2 = asciiToBase16(hex.charCodeAt(hi + 1));
    if (n1 === void 0 || n2 === void 0) {
      const char = hex[hi] + hex[hi + 1];
      throw new RangeError('hex string expected, got non-hex character "' + char + '" at index ' + hi);
    }
    array[ai] = n1 * 16 + n2;
  }
  return array;
}
function utf8ToBytes(str) {
  if (typeof str !== "string")
    throw new TypeError("string expected");
  const encoded = new TextEncoder().encode(str);
  try {
    return new Uint8Array(encoded);
  } finally {
    clean(encoded);
  }
}
function concatBytes2(...arrays) {
  let sum = 0;
  for (let i = 0; i < arrays.length; i++) {
    const a = arrays[i];
    abytes(a);
    sum += a.length;
  }
  const res = new Uint8Array(sum);
  for (let i = 0, pad = 0; i < arrays.length; i++) {
    const a = arrays[i];
    res.set(a, pad);
    pad += a.length;
  }
  return res;
}
function checkOpts(defaults, opts, title = "opts") {
  aopts(defaults, "defaults");
  if (opts !== void 0)
    aopts(opts, title);
  const merged = Object.assign(/* @__PURE__ */ Object.create(null), defaults, opts);
  return merged;
}
function createHasher(hashCons, info = {}) {
  if (typeof hashCons !== "function")
    throw new TypeError('"hashCons" expected function, got type=' + typeof hashCons);
  info = checkOpts({}, info, "info");
  const hashC = (msg, opts) => hashCons(opts).update(msg).digest();
  const tmp = hashCons(void 0);
  hashC.outputLen = tmp.outputLen;
  hashC.blockLen = tmp.blockLen;
  hashC.canXOF = tmp.canXOF;
  hashC.create = (opts) => hashCons(opts);
  Object.assign(hashC, info);
  return Object.freeze(hashC);
}
function randomBytes(bytesLength = 32) {
  anumber(bytesLength, "bytesLength");
  const cr = typeof globalThis === "object" ? globalThis.crypto : null;
  if (typeof cr?.getRandomValues !== "function")
    throw new Error("crypto.getRandomValues must be defined");
  if (bytesLength > 65536)
    throw new RangeError(`"bytesLength" expected <= 65536, got ${bytesLength}`);
  return cr.getRandomValues(new Uint8Array(bytesLength));
}
var atitle, aobject, aopts, isLE, swap32IfBE, hasHexBuiltin, hexes, oidNist;
var init_utils = __esm({
  "node_modules/@noble/hashes/utils.js"() {
    atitle = (title) => title ? `"${title}" ` : "";
    aobject = (value, label) => {
      if (value === null || typeof value !== "object" || Array.isArray(value))
        throw new TypeError((label === "object" ? "" : `"${label}" `) + "expected object, got type=" + typeof value);
    };
    aopts = (value, label) => {
      aobject(value, label);
      const proto = Object.getPrototypeOf(value);
      if (proto !== Object.prototype && proto !== null)
        throw new TypeError(`"${label}" expected plain object`);
      if (Object.hasOwn(value, "__proto__"))
        throw new TypeError(`"${label}.__proto__" is not allowed`);
    };
    isLE = /* @__PURE__ */ (() => new Uint8Array(new Uint32Array([287454020]).buffer)[0] === 68)();
    swap32IfBE = isLE ? (u) => u : byteSwap32;
    hasHexBuiltin = /* @__PURE__ */ (() => (
      // @ts-ignore
      typeof Uint8Array.from([]).toHex === "function" && typeof Uint8Array.fromHex === "function"
    ))();
    hexes = /* @__PURE__ */ Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
    oidNist = (suffix) => ({
      // Current NIST hashAlgs suffixes used here fit in one DER subidentifier octet.
      // Larger suffix values would need base-128 OID encoding and a different length byte.
      oid: Uint8Array.from([6, 9, 96, 134, 72, 1, 101, 3, 4, 2, suffix])
    });
  }
});

// node_modules/@noble/hashes/_md.js
function Chi(a, b, c) {
  return a & b ^ ~a & c;
}
function Maj(a, b, c) {
  return a & b ^ a & c ^ b & c;
}
var HashMD, SHA256_IV, SHA512_IV;
var init_md = __esm({
  "node_modules/@noble/hashes/_md.js"() {
    init_u64();
    init_utils();
    HashMD = class {
      blockLen;
      outputLen;
      canXOF = false;
      padOffset;
      isLE;
      // For partial updates less than block size
      buffer;
      view;
      finished = false;
      length = 0;
      pos = 0;
      destroyed = false;
      constructor(blockLen, outputLen, padOffset, isLE2) {
        this.blockLen = blockLen;
        this.outputLen = outputLen;
        this.padOffset = padOffset;
        this.isLE = isLE2;
        this.buffer = new Uint8Array(blockLen);
        this.view = createView(this.buffer);
      }
      update(data) {
        aexists(this);
        abytes(data);
        const { view, buffer, blockLen } = this;
        const len = data.length;
        let processed = false;
        for (let pos = 0; pos < len; ) {
          const take = Math.min(blockLen - this.pos, len - pos);
          if (take === blockLen) {
            const dataView = createView(data);
            for (; blockLen <= len - pos; pos += blockLen)
              this.process(dataView, pos);
            processed = true;
            continue;
          }
          buffer.set(pos === 0 && take === len ? data : data.subarray(pos, pos + take), this.pos);
          this.pos += take;
          pos += take;
          if (this.pos === blockLen) {
            this.process(view, 0);
            this.pos = 0;
            processed = true;
          }
        }
        this.length += data.length;
        if (processed)
          this.roundClean();
        return this;
      }
      digestInto(out) {
        aexists(this);
        aoutput(out, this);
        this.finished = true;
        const { buffer, view, blockLen, isLE: isLE2 } = this;
        let { pos } = this;
        buffer[pos++] = 128;
        buffer.fill(0, pos);
        if (this.padOffset > blockLen - pos) {
          this.process(view, 0);
          buffer.fill(0);
        }
        setU64FromNum(view, blockLen - 8, this.length * 8, isLE2);
        this.process(view, 0);
        this.roundClean();
        const oview = out === buffer ? view : createView(out);
        const len = this.outputLen;
        const outLen = len / 4;
        const state = this.get();
        if (len % 4 || outLen > state.length)
          throw new Error("invalid outputLen");
        for (let i = 0; i < outLen; i++)
          oview.setUint32(4 * i, state[i], isLE2);
      }
      digest() {
        const { buffer, outputLen } = this;
        this.digestInto(buffer);
        const res = buffer.slice(0, outputLen);
        this.destroy();
        return res;
      }
      _cloneIntoMeta(to) {
        const { buffer, length, finished, destroyed, pos } = this;
        to.destroyed = destroyed;
        to.finished = finished;
        to.length = length;
        to.pos = pos;
        if (pos)
          to.buffer.set(buffer);
        return to;
      }
      clone() {
        return this._cloneInto();
      }
    };
    SHA256_IV = /* @__PURE__ */ Uint32Array.from([
      1779033703,
      3144134277,
      1013904242,
      2773480762,
      1359893119,
      2600822924,
      528734635,
      1541459225
    ]);
    SHA512_IV = /* @__PURE__ */ Uint32Array.from([
      1779033703,
      4089235720,
      3144134277,
      2227873595,
      1013904242,
      4271175723,
      2773480762,
      1595750129,
      1359893119,
      2917565137,
      2600822924,
      725511199,
      528734635,
      4215389547,
      1541459225,
      327033209
    ]);
  }
});

// node_modules/@noble/hashes/sha2.js
var SHA256_K, SHA256_W, SHA2_32B, _SHA256, K512, SHA512_Kh, SHA512_Kl, SHA512_W_H, SHA512_W_L, SHA2_64B, _SHA512, sha256, sha512;
var init_sha2 = __esm({
  "node_modules/@noble/hashes/sha2.js"() {
    init_md();
    init_u64();
    init_utils();
    SHA256_K = /* @__PURE__ */ Uint32Array.from([
      1116352408,
      1899447441,
      3049323471,
      3921009573,
      961987163,
      1508970993,
      2453635748,
      2870763221,
      3624381080,
      310598401,
      607225278,
      1426881987,
      1925078388,
      2162078206,
      2614888103,
      3248222580,
      3835390401,
      4022224774,
      264347078,
      604807628,
      770255983,
      1249150122,
      1555081692,
      1996064986,
      2554220882,
      2821834349,
      2952996808,
      3210313671,
      3336571891,
      3584528711,
      113926993,
      338241895,
      666307205,
      773529912,
      1294757372,
      1396182291,
      1695183700,
      1986661051,
      2177026350,
      2456956037,
      2730485921,
      2820302411,
      3259730800,
      3345764771,
      3516065817,
      3600352804,
      4094571909,
      275423344,
      430227734,
      506948616,
      659060556,
      883997877,
      958139571,
      1322822218,
      1537002063,
      1747873779,
      1955562222,
      2024104815,
      2227730452,
      2361852424,
      2428436474,
      2756734187,
      3204031479,
      3329325298
    ]);
    SHA256_W = /* @__PURE__ */ new Uint32Array(64);
    SHA2_32B = class extends HashMD {
      // We cannot use array here since array allows indexing by variable
      // which means optimizer/compiler cannot use registers.
      // Numeric initializers matter: starting the fields as `undefined` changes
      // V8's field representation and makes sha256 3x slower (measured).
      A = 0;
      B = 0;
      C = 0;
      D = 0;
      E = 0;
      F = 0;
      G = 0;
      H = 0;
      constructor(outputLen, IV) {
        super(64, outputLen, 8, false);
        this.A = IV[0] | 0;
        this.B = IV[1] | 0;
        this.C = IV[2] | 0;
        this.D = IV[3] | 0;
        this.E = IV[4] | 0;
        this.F = IV[5] | 0;
        this.G = IV[6] | 0;
        this.H = IV[7] | 0;
      }
      get() {
        const { A, B: B2, C, D: D2, E, F: F2, G, H } = this;
        return [A, B2, C, D2, E, F2, G, H];
      }
      // prettier-ignore
      set(A, B2, C, D2, E, F2, G, H) {
        this.A = A | 0;
        this.B = B2 | 0;
        this.C = C | 0;
        this.D = D2 | 0;
        this.E = E | 0;
        this.F = F2 | 0;
        this.G = G | 0;
        this.H = H | 0;
      }
      _cloneInto(to) {
        (to ||= new this.constructor()).set(...this.get());
        return this._cloneIntoMeta(to);
      }
      process(view, offset) {
        for (let i = 0; i < 16; i++, offset += 4)
          SHA256_W[i] = view.getUint32(offset, false);
        for (let i = 16; i < 64; i++) {
          const W15 = SHA256_W[i - 15];
          const W2 = SHA256_W[i - 2];
          const s0 = rotr(W15, 7) ^ rotr(W15, 18) ^ W15 >>> 3;
          const s1 = rotr(W2, 17) ^ rotr(W2, 19) ^ W2 >>> 10;
          SHA256_W[i] = s1 + SHA256_W[i - 7] + s0 + SHA256_W[i - 16] | 0;
        }
        let { A, B: B2, C, D: D2, E, F: F2, G, H } = this;
        for (let i = 0; i < 64; i++) {
          const sigma1 = rotr(E, 6) ^ rotr(E, 11) ^ rotr(E, 25);
          const T1 = H + sigma1 + Chi(E, F2, G) + SHA256_K[i] + SHA256_W[i] | 0;
          const sigma0 = rotr(A, 2) ^ rotr(A, 13) ^ rotr(A, 22);
          const T2 = sigma0 + Maj(A, B2, C) | 0;
          H = G;
          G = F2;
          F2 = E;
          E = D2 + T1 | 0;
          D2 = C;
          C = B2;
          B2 = A;
          A = T1 + T2 | 0;
        }
        A = A + this.A | 0;
        B2 = B2 + this.B | 0;
        C = C + this.C | 0;
        D2 = D2 + this.D | 0;
        E = E + this.E | 0;
        F2 = F2 + this.F | 0;
        G = G + this.G | 0;
        H = H + this.H | 0;
        this.set(A, B2, C, D2, E, F2, G, H);
      }
      roundClean() {
        clean(SHA256_W);
      }
      destroy() {
        this.destroyed = true;
        this.set(0, 0, 0, 0, 0, 0, 0, 0);
        clean(this.buffer);
      }
    };
    _SHA256 = class extends SHA2_32B {
      constructor() {
        super(32, SHA256_IV);
      }
    };
    K512 = /* @__PURE__ */ (() => split([
      "0x428a2f98d728ae22",
      "0x7137449123ef65cd",
      "0xb5c0fbcfec4d3b2f",
      "0xe9b5dba58189dbbc",
      "0x3956c25bf348b538",
      "0x59f111f1b605d019",
      "0x923f82a4af194f9b",
      "0xab1c5ed5da6d8118",
      "0xd807aa98a3030242",
      "0x12835b0145706fbe",
      "0x243185be4ee4b28c",
      "0x550c7dc3d5ffb4e2",
      "0x72be5d74f27b896f",
      "0x80deb1fe3b1696b1",
      "0x9bdc06a725c71235",
      "0xc19bf174cf692694",
      "0xe49b69c19ef14ad2",
      "0xefbe4786384f25e3",
      "0x0fc19dc68b8cd5b5",
      "0x240ca1cc77ac9c65",
      "0x2de92c6f592b0275",
      "0x4a7484aa6ea6e483",
      "0x5cb0a9dcbd41fbd4",
      "0x76f988da831153b5",
      "0x983e5152ee66dfab",
      "0xa831c66d2db43210",
      "0xb00327c898fb213f",
      "0xbf597fc7beef0ee4",
      "0xc6e00bf33da88fc2",
      "0xd5a79147930aa725",
      "0x06ca6351e003826f",
      "0x142929670a0e6e70",
      "0x27b70a8546d22ffc",
      "0x2e1b21385c26c926",
      "0x4d2c6dfc5ac42aed",
      "0x53380d139d95b3df",
      "0x650a73548baf63de",
      "0x766a0abb3c77b2a8",
      "0x81c2c92e47edaee6",
      "0x92722c851482353b",
      "0xa2bfe8a14cf10364",
      "0xa81a664bbc423001",
      "0xc24b8b70d0f89791",
      "0xc76c51a30654be30",
      "0xd192e819d6ef5218",
      "0xd69906245565a910",
      "0xf40e35855771202a",
      "0x106aa07032bbd1b8",
      "0x19a4c116b8d2d0c8",
      "0x1e376c085141ab53",
      "0x2748774cdf8eeb99",
      "0x34b0bcb5e19b48a8",
      "0x391c0cb3c5c95a63",
      "0x4ed8aa4ae3418acb",
      "0x5b9cca4f7763e373",
      "0x682e6ff3d6b2b8a3",
      "0x748f82ee5defb2fc",
      "0x78a5636f43172f60",
      "0x84c87814a1f0ab72",
      "0x8cc702081a6439ec",
      "0x90befffa23631e28",
      "0xa4506cebde82bde9",
      "0xbef9a3f7b2c67915",
      "0xc67178f2e372532b",
      "0xca273eceea26619c",
      "0xd186b8c721c0c207",
      "0xeada7dd6cde0eb1e",
      "0xf57d4f7fee6ed178",
      "0x06f067aa72176fba",
      "0x0a637dc5a2c898a6",
      "0x113f9804bef90dae",
      "0x1b710b35131c471b",
      "0x28db77f523047d84",
      "0x32caab7b40c72493",
      "0x3c9ebe0a15c9bebc",
      "0x431d67c49c100d4c",
      "0x4cc5d4becb3e42b6",
      "0x597f299cfc657e2a",
      "0x5fcb6fab3ad6faec",
      "0x6c44198c4a475817"
    ].map((n) => BigInt(n))))();
    SHA512_Kh = /* @__PURE__ */ (() => K512[0])();
    SHA512_Kl = /* @__PURE__ */ (() => K512[1])();
    SHA512_W_H = /* @__PURE__ */ new Uint32Array(80);
    SHA512_W_L = /* @__PURE__ */ new Uint32Array(80);
    SHA2_64B = class extends HashMD {
      // We cannot use array here since array allows indexing by variable
      // which means optimizer/compiler cannot use registers.
      // h -- high 32 bits, l -- low 32 bits
      // Numeric initializers matter: starting the fields as `undefined` changes
      // V8's field representation and slows hashing down (measured on sha256).
      Ah = 0;
      Al = 0;
      Bh = 0;
      Bl = 0;
      Ch = 0;
      Cl = 0;
      Dh = 0;
      Dl = 0;
      Eh = 0;
      El = 0;
      Fh = 0;
      Fl = 0;
      Gh = 0;
      Gl = 0;
      Hh = 0;
      Hl = 0;
      constructor(outputLen, IV) {
        super(128, outputLen, 16, false);
        this.Ah = IV[0] | 0;
        this.Al = IV[1] | 0;
        this.Bh = IV[2] | 0;
        this.Bl = IV[3] | 0;
        this.Ch = IV[4] | 0;
        this.Cl = IV[5] | 0;
        this.Dh = IV[6] | 0;
        this.Dl = IV[7] | 0;
        this.Eh = IV[8] | 0;
        this.El = IV[9] | 0;
        this.Fh = IV[10] | 0;
        this.Fl = IV[11] | 0;
        this.Gh = IV[12] | 0;
        this.Gl = IV[13] | 0;
        this.Hh = IV[14] | 0;
        this.Hl = IV[15] | 0;
      }
      // prettier-ignore
      get() {
        const { Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl } = this;
        return [Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl];
      }
      // prettier-ignore
      set(Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl) {
        this.Ah = Ah | 0;
        this.Al = Al | 0;
        this.Bh = Bh | 0;
        this.Bl = Bl | 0;
        this.Ch = Ch | 0;
        this.Cl = Cl | 0;
        this.Dh = Dh | 0;
        this.Dl = Dl | 0;
        this.Eh = Eh | 0;
        this.El = El | 0;
        this.Fh = Fh | 0;
        this.Fl = Fl | 0;
        this.Gh = Gh | 0;
        this.Gl = Gl | 0;
        this.Hh = Hh | 0;
        this.Hl = Hl | 0;
      }
      _cloneInto(to) {
        (to ||= new this.constructor()).set(...this.get());
        return this._cloneIntoMeta(to);
      }
      process(view, offset) {
        for (let i = 0; i < 16; i++, offset += 4) {
          SHA512_W_H[i] = view.getUint32(offset);
          SHA512_W_L[i] = view.getUint32(offset += 4);
        }
        for (let i = 16; i < 80; i++) {
          const W15h = SHA512_W_H[i - 15] | 0;
          const W15l = SHA512_W_L[i - 15] | 0;
          const s0h = rotrSH(W15h, W15l, 1) ^ rotrSH(W15h, W15l, 8) ^ shrSH(W15h, W15l, 7);
          const s0l = rotrSL(W15h, W15l, 1) ^ rotrSL(W15h, W15l, 8) ^ shrSL(W15h, W15l, 7);
          const W2h = SHA512_W_H[i - 2] | 0;
          const W2l = SHA512_W_L[i - 2] | 0;
          const s1h = rotrSH(W2h, W2l, 19) ^ rotrBH(W2h, W2l, 61) ^ shrSH(W2h, W2l, 6);
          const s1l = rotrSL(W2h, W2l, 19) ^ rotrBL(W2h, W2l, 61) ^ shrSL(W2h, W2l, 6);
          const SUMl = add4L(s0l, s1l, SHA512_W_L[i - 7], SHA512_W_L[i - 16]);
          const SUMh = add4H(SUMl, s0h, s1h, SHA512_W_H[i - 7], SHA512_W_H[i - 16]);
          SHA512_W_H[i] = SUMh | 0;
          SHA512_W_L[i] = SUMl | 0;
        }
        let { Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl } = this;
        for (let i = 0; i < 80; i++) {
          const sigma1h = rotrSH(Eh, El, 14) ^ rotrSH(Eh, El, 18) ^ rotrBH(Eh, El, 41);
          const sigma1l = rotrSL(Eh, El, 14) ^ rotrSL(Eh, El, 18) ^ rotrBL(Eh, El, 41);
          const CHIh = Eh & Fh ^ ~Eh & Gh;
          const CHIl = El & Fl ^ ~El & Gl;
          const T1ll = add5L(Hl, sigma1l, CHIl, SHA512_Kl[i], SHA512_W_L[i]);
          const T1h = add5H(T1ll, Hh, sigma1h, CHIh, SHA512_Kh[i], SHA512_W_H[i]);
          const T1l = T1ll | 0;
          const sigma0h = rotrSH(Ah, Al, 28) ^ rotrBH(Ah, Al, 34) ^ rotrBH(Ah, Al, 39);
          const sigma0l = rotrSL(Ah, Al, 28) ^ rotrBL(Ah, Al, 34) ^ rotrBL(Ah, Al, 39);
          const MAJh = Ah & Bh ^ Ah & Ch ^ Bh & Ch;
          const MAJl = Al & Bl ^ Al & Cl ^ Bl & Cl;
          Hh = Gh | 0;
          Hl = Gl | 0;
          Gh = Fh | 0;
          Gl = Fl | 0;
          Fh = Eh | 0;
          Fl = El | 0;
          ({ h: Eh, l: El } = add(Dh | 0, Dl | 0, T1h | 0, T1l | 0));
          Dh = Ch | 0;
          Dl = Cl | 0;
          Ch = Bh | 0;
          Cl = Bl | 0;
          Bh = Ah | 0;
          Bl = Al | 0;
          const All = add3L(T1l, sigma0l, MAJl);
          Ah = add3H(All, T1h, sigma0h, MAJh);
          Al = All | 0;
        }
        ({ h: Ah, l: Al } = add(this.Ah | 0, this.Al | 0, Ah | 0, Al | 0));
        ({ h: Bh, l: Bl } = add(this.Bh | 0, this.Bl | 0, Bh | 0, Bl | 0));
        ({ h: Ch, l: Cl } = add(this.Ch | 0, this.Cl | 0, Ch | 0, Cl | 0));
        ({ h: Dh, l: Dl } = add(this.Dh | 0, this.Dl | 0, Dh | 0, Dl | 0));
        ({ h: Eh, l: El } = add(this.Eh | 0, this.El | 0, Eh | 0, El | 0));
        ({ h: Fh, l: Fl } = add(this.Fh | 0, this.Fl | 0, Fh | 0, Fl | 0));
        ({ h: Gh, l: Gl } = add(this.Gh | 0, this.Gl | 0, Gh | 0, Gl | 0));
        ({ h: Hh, l: Hl } = add(this.Hh | 0, this.Hl | 0, Hh | 0, Hl | 0));
        this.set(Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl);
      }
      roundClean() {
        clean(SHA512_W_H, SHA512_W_L);
      }
      destroy() {
        this.destroyed = true;
        clean(this.buffer);
        this.set(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
      }
    };
    _SHA512 = class extends SHA2_64B {
      constructor() {
        super(64, SHA512_IV);
      }
    };
    sha256 = /* @__PURE__ */ createHasher(
      () => new _SHA256(),
      /* @__PURE__ */ oidNist(1)
    );
    sha512 = /* @__PURE__ */ createHasher(
      () => new _SHA512(),
      /* @__PURE__ */ oidNist(3)
    );
  }
});

// node_modules/@noble/curves/utils.js
function aarray(item, title, inner = () => {
}) {
  if (!Array.isArray(item))
    throw new TypeError(`"${title}" expected array, got type=${typeof item}`);
  for (let i = 0; i < item.length; i++)
    inner(item[i], `${title}[${i}]`);
  return item;
}
function astring(value, title = "") {
  if (typeof value !== "string") {
    const prefix = title && `"${title}" `;
    throw new TypeError(prefix + "expected string, got type=" + typeof value);
  }
  return value;
}
function aobject2(value, title = "object") {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(title === "object" ? "expected valid options object" : `"${title}" expected object, got type=${typeof value}`);
  return value;
}
function afunction(value, title) {
  if (typeof value !== "function")
    throw new TypeError(`"${title}" is invalid: expected function, got ${typeof value}`);
  return value;
}
function abool2(value, title = "") {
  if (typeof value !== "boolean")
    throw new TypeError(atitle2(title) + "expected boolean, got type=" + typeof value);
  return value;
}
function abignumber(n) {
  if (typeof n === "bigint") {
    if (!isPosBig(n))
      throw new RangeError("positive bigint expected, got " + n);
  } else
    anumber2(n);
  return n;
}
function asafenumber(value, title = "") {
  if (typeof value !== "number") {
    const prefix = title && `"${title}" `;
    throw new TypeError(prefix + "expected number, got type=" + typeof value);
  }
  if (!Number.isSafeInteger(value)) {
    const prefix = title && `"${title}" `;
    throw new RangeError(prefix + "expected safe integer, got " + value);
  }
}
function numberToHexUnpadded(num) {
  const hex = abignumber(num).toString(16);
  return hex.length & 1 ? "0" + hex : hex;
}
function hexToNumber(hex) {
  if (typeof hex !== "string")
    throw new TypeError("hex string expected, got " + typeof hex);
  return hex === "" ? _0n : BigInt("0x" + hex);
}
function bytesToNumberBE(bytes) {
  return hexToNumber(bytesToHex(bytes));
}
function bytesToNumberLE(bytes) {
  return hexToNumber(bytesToHex(copyBytes(abytes(bytes)).reverse()));
}
function numberToBytesBE(n, len) {
  anumber(len);
  if (len === 0)
    throw new Error("zero output length is invalid");
  n = abignumber(n);
  const expectedLen = len * 2;
  const hex = n.toString(16);
  if (hex.length > expectedLen)
    throw new RangeError("number is too large");
  return hexToBytes(hex.padStart(expectedLen, "0"));
}
function numberToBytesLE(n, len) {
  return numberToBytesBE(n, len).reverse();
}
function copyBytes(bytes) {
  return Uint8Array.from(abytes2(bytes));
}
function isPosBig(n) {
  return typeof n === "bigint" && _0n <= n;
}
function inRange(n, min, max) {
  return isPosBig(n) && isPosBig(min) && isPosBig(max) && min <= n && n < max;
}
function aInRange(title, n, min, max) {
  if (!inRange(n, min, max))
    throw new RangeError("expected valid " + title + ": " + min + " <= n < " + max + ", got " + n);
}
function bitLen(n) {
  if (n < _0n)
    throw new Error("expected non-negative bigint, got " + n);
  return n === _0n ? 0 : n.toString(2).length;
}
function createHmacDrbg(hashLen, qByteLen, hmacFn) {
  anumber(hashLen, "hashLen");
  anumber(qByteLen, "qByteLen");
  if (typeof hmacFn !== "function")
    throw new TypeError("hmacFn must be a function");
  const u8n = (len) => new Uint8Array(len);
  const NULL = Uint8Array.of();
  const byte0 = Uint8Array.of(0);
  const byte1 = Uint8Array.of(1);
  const _maxDrbgIters = 1e3;
  let v = u8n(hashLen);
  let k = u8n(hashLen);
  let i = 0;
  const reset = () => {
    v.fill(1);
    k.fill(0);
    i = 0;
  };
  const h = (...msgs) => hmacFn(k, concatBytes3(v, ...msgs));
  const reseed = (seed = NULL) => {
    k = h(byte0, seed);
    v = h();
    if (seed.length === 0)
      return;
    k = h(byte1, seed);
    v = h();
  };
  const gen = () => {
    if (i++ >= _maxDrbgIters)
      throw new Error("drbg: tried max amount of iterations");
    let len = 0;
    const out = [];
    while (len < qByteLen) {
      v = h();
      const sl = v.slice();
      out.push(sl);
      len += v.length;
    }
    return concatBytes3(...out);
  };
  const genUntil = (seed, pred) => {
    reset();
    reseed(seed);
    let res = void 0;
    while ((res = pred(gen())) === void 0)
      reseed();
    reset();
    return res;
  };
  return genUntil;
}
function validateObject(object, fields = {}, optFields = {}, title = "object") {
  aobject2(object, title);
  aobject2(fields, "fields");
  aobject2(optFields, "optFields");
  function checkField(fieldName, expectedType, isOpt) {
    const label = title === "object" ? `param "${String(fieldName)}"` : `"${title}.${String(fieldName)}"`;
    const val = object[fieldName];
    if (!Object.hasOwn(object, fieldName) && (isOpt ? val !== void 0 : expectedType !== "function")) {
      throw new TypeError(`${label} is invalid: expected own property`);
    }
    if (isOpt && val === void 0)
      return;
    const current = typeof val;
    if (current !== expectedType || val === null)
      throw new TypeError(`${label} is invalid: expected ${expectedType}, got ${current}`);
  }
  const iter = (f, isOpt) => Object.entries(f).forEach(([k, v]) => checkField(k, v, isOpt));
  iter(fields, false);
  iter(optFields, true);
}
var abytes2, anumber2, bytesToHex2, concatBytes3, hexToBytes2, isBytes2, randomBytes2, _0n, _1n, atitle2, bitMask;
var init_utils2 = __esm({
  "node_modules/@noble/curves/utils.js"() {
    init_utils();
    abytes2 = (value, length, title) => abytes(value, length, title);
    anumber2 = anumber;
    bytesToHex2 = bytesToHex;
    concatBytes3 = (...arrays) => concatBytes2(...arrays);
    hexToBytes2 = (hex) => hexToBytes(hex);
    isBytes2 = isBytes;
    randomBytes2 = (bytesLength) => randomBytes(bytesLength);
    _0n = /* @__PURE__ */ BigInt(0);
    _1n = /* @__PURE__ */ BigInt(1);
    atitle2 = (title) => title ? `"${title}" ` : "";
    bitMask = (n) => {
      asafenumber(n, "n");
      return (_1n << BigInt(n)) - _1n;
    };
  }
});

// node_modules/@noble/curves/abstract/modular.js
function mod(a, b) {
  if (b <= _0n2)
    throw new Error("mod: expected positive modulus, got " + b);
  const result = a % b;
  return result >= _0n2 ? result : b + result;
}
function pow(num, power, modulo) {
  if (modulo <= _1n2)
    throw new Error("pow: expected modulus > 1, got " + modulo);
  if (typeof power !== "bigint")
    throw new TypeError("invalid exponent: expected bigint, got " + typeof power);
  if (power < _0n2)
    throw new Error("invalid exponent, negatives unsupported");
  if (power === _0n2)
    return _1n2;
  if (power === _1n2)
    return num;
  let d = num % modulo;
  if (d < _0n2)
    d += modulo;
  if (power < POW_WINDOWED_MIN) {
    let p2 = _1n2;
    while (power > _0n2) {
      if (power & _1n2)
        p2 = p2 * d % modulo;
      d = d * d % modulo;
      power >>= _1n2;
    }
    return p2;
  }
  const digits = [];
  while (power > _0n2) {
    digits.push(Number(power & _15n));
    power >>= _4n;
  }
  const table2 = new Array(16);
  table2[0] = _1n2;
  table2[1] = d;
  for (let i = 2; i < 16; i++)
    table2[i] = table2[i - 1] * d % modulo;
  let p = table2[digits[digits.length - 1]];
  for (let w = digits.length - 2; w >= 0; w--) {
    p = p * p % modulo;
    p = p * p % modulo;
    p = p * p % modulo;
    p = p * p % modulo;
    const digit = digits[w];
    if (digit !== 0)
      p = p * table2[digit] % modulo;
  }
  return p;
}
function pow2(x, power, modulo) {
  if (modulo <= _1n2)
    throw new Error("pow2: expected modulus > 1, got " + modulo);
  if (power < _0n2)
    throw new Error("pow2: expected non-negative exponent, got " + power);
  let res = x;
  while (power-- > _0n2) {
    res *= res;
    res %= modulo;
  }
  return res;
}
function invert(number, modulo) {
  if (number === _0n2)
    throw new Error("invert: expected non-zero number");
  if (modulo <= _1n2)
    throw new Error("invert: expected modulus > 1, got " + modulo);
  let a = mod(number, modulo);
  let b = modulo;
  let x = _0n2, u = _1n2;
  while (a !== _0n2) {
    const q = b / a;
    const r = b - a * q;
    const m = x - u * q;
    b = a, a = r, x = u, u = m;
  }
  const gcd = b;
  if (gcd !== _1n2)
    throw new Error("invert: does not exist");
  return mod(x, modulo);
}
function invertCt(a, prime) {
  if (prime <= _1n2)
    throw new Error("invertCt: expected prime modulus > 1, got " + prime);
  const an = mod(a, prime);
  if (an === _0n2)
    throw new Error("invertCt: expected non-zero number");
  const inverse = pow(an, prime - _2n, prime);
  if (mod(an * inverse, prime) !== _1n2)
    throw new Error("invertCt: does not exist");
  return inverse;
}
function assertIsSquare(Fp2, root, n) {
  const F2 = Fp2;
  if (!F2.eql(F2.sqr(root), n))
    throw new Error("Cannot find square root");
}
function aoddModulus(order, fnName) {
  if ((order & _1n2) === _0n2)
    throw new Error(fnName + ": expected odd modulus, got " + order);
}
function sqrt3mod4(Fp2, n) {
  const F2 = Fp2;
  const p1div4 = (F2.ORDER + _1n2) / _4n;
  const root = F2.pow(n, p1div4);
  assertIsSquare(F2, root, n);
  return root;
}
function sqrt5mod8(Fp2, n) {
  const F2 = Fp2;
  const p5div8 = (F2.ORDER - _5n) / _8n;
  const n2 = F2.mul(n, _2n);
  const v = F2.pow(n2, p5div8);
  const nv = F2.mul(n, v);
  const i = F2.mul(F2.mul(nv, _2n), v);
  const root = F2.mul(nv, F2.sub(i, F2.ONE));
  assertIsSquare(F2, root, n);
  return root;
}
function sqrt9mod16(P) {
  const Fp_ = Field(P);
  const tn = tonelliShanks(P);
  const c1 = tn(Fp_, Fp_.neg(Fp_.ONE));
  const c2 = tn(Fp_, c1);
  const c3 = tn(Fp_, Fp_.neg(c1));
  const c4 = (P + _7n) / _16n;
  return ((Fp2, n) => {
    const F2 = Fp2;
    let tv1 = F2.pow(n, c4);
    let tv2 = F2.mul(tv1, c1);
    const tv3 = F2.mul(tv1, c2);
    const tv4 = F2.mul(tv1, c3);
    const e1 = F2.eql(F2.sqr(tv2), n);
    const e2 = F2.eql(F2.sqr(tv3), n);
    tv1 = F2.cmov(tv1, tv2, e1);
    tv2 = F2.cmov(tv4, tv3, e2);
    const e3 = F2.eql(F2.sqr(tv2), n);
    const root = F2.cmov(tv1, tv2, e3);
    assertIsSquare(F2, root, n);
    return root;
  });
}
function tonelliShanks(P) {
  if (P < _3n)
    throw new Error("sqrt is not defined for small field");
  aoddModulus(P, "tonelliShanks");
  let Q2 = P - _1n2;
  let S = 0;
  while (Q2 % _2n === _0n2) {
    Q2 /= _2n;
    S++;
  }
  let Z = _2n;
  const _Fp = Field(P);
  while (FpLegendre(_Fp, Z) === 1) {
    if (Z++ > 1e3)
      throw new Error("Cannot find square root: probably non-prime P");
  }
  if (S === 1)
    return sqrt3mod4;
  let cc = _Fp.pow(Z, Q2);
  const Q1div2 = (Q2 + _1n2) / _2n;
  return function tonelliSlow(Fp2, n) {
    const F2 = Fp2;
    if (F2.is0(n))
      return n;
    if (FpLegendre(F2, n) !== 1)
      throw new Error("Cannot find square root");
    let M = S;
    let c = F2.mul(F2.ONE, cc);
    let t = F2.pow(n, Q2);
    let R = F2.pow(n, Q1div2);
    while (!F2.eql(t, F2.ONE)) {
      if (F2.is0(t))
        throw new Error("Cannot find square root: probably non-prime P");
      let i = 1;
      let t_tmp = F2.sqr(t);
      while (!F2.eql(t_tmp, F2.ONE)) {
        i++;
        t_tmp = F2.sqr(t_tmp);
        if (i === M)
          throw new Error("Cannot find square root");
      }
      const exponent = _1n2 << BigInt(M - i - 1);
      const b = F2.pow(c, exponent);
      M = i;
      c = F2.sqr(b);
      t = F2.mul(t, c);
      R = F2.mul(R, b);
    }
    return R;
  };
}
function FpSqrt(P) {
  aoddModulus(P, "Fp.sqrt");
  if (P % _4n === _3n)
    return sqrt3mod4;
  if (P % _8n === _5n)
    return sqrt5mod8;
  if (P % _16n === _9n)
    return sqrt9mod16(P);
  return tonelliShanks(P);
}
function validateField(field) {
  aobject2(field, "field");
  if (typeof field.ORDER !== "bigint")
    throw new TypeError('param "ORDER" is invalid: expected bigint, got ' + typeof field.ORDER);
  asafenumber(field.BYTES, "BYTES");
  asafenumber(field.BITS, "BITS");
  for (const name of FIELD_FIELDS)
    afunction(field[name], "field." + name);
  if (field.BYTES < 1 || field.BITS < 1)
    throw new Error("invalid field: expected BYTES/BITS > 0");
  if (field.ORDER <= _1n2)
    throw new Error("invalid field: expected ORDER > 1, got " + field.ORDER);
  return field;
}
function FpInvertBatch(Fp2, nums, passZero = false) {
  validateField(Fp2);
  aarray(nums, "nums");
  abool2(passZero, "passZero");
  const F2 = Fp2;
  const inverted = new Array(nums.length).fill(passZero ? F2.ZERO : void 0);
  const multipliedAcc = nums.reduce((acc, num, i) => {
    if (F2.is0(num))
      return acc;
    inverted[i] = acc;
    return F2.mul(acc, num);
  }, F2.ONE);
  const invertedAcc = F2.inv(multipliedAcc);
  nums.reduceRight((acc, num, i) => {
    if (F2.is0(num))
      return acc;
    inverted[i] = F2.mul(acc, inverted[i]);
    return F2.mul(acc, num);
  }, invertedAcc);
  return inverted;
}
function FpLegendre(Fp2, n) {
  validateField(Fp2);
  const F2 = Fp2;
  aoddModulus(F2.ORDER, "FpLegendre");
  const p1mod2 = (F2.ORDER - _1n2) / _2n;
  const powered = F2.pow(n, p1mod2);
  const yes = F2.eql(powered, F2.ONE);
  const zero = F2.eql(powered, F2.ZERO);
  const no = F2.eql(powered, F2.neg(F2.ONE));
  if (!yes && !zero && !no)
    throw new Error("invalid Legendre symbol result");
  return yes ? 1 : zero ? 0 : -1;
}
function nLength(n, nBitLength) {
  if (nBitLength !== void 0)
    anumber2(nBitLength);
  if (n <= _0n2)
    throw new Error("invalid n length: expected positive n, got " + n);
  if (nBitLength !== void 0 && nBitLength < 1)
    throw new Error("invalid n length: expected positive bit length, got " + nBitLength);
  const bits = bitLen(n);
  if (nBitLength !== void 0 && nBitLength < bits)
    throw new Error(`invalid n length: expected nBitLength (${nBitLength}) >= bitLen(n) (${bits})`);
  const _nBitLength = nBitLength !== void 0 ? nBitLength : bits;
  const nByteLength = Math.ceil(_nBitLength / 8);
  return { nBitLength: _nBitLength, nByteLength };
}
function Field(ORDER, opts = {}) {
  Object.freeze(_Field.prototype);
  return new _Field(ORDER, opts);
}
function getFieldBytesLength(fieldOrder) {
  if (typeof fieldOrder !== "bigint")
    throw new Error("field order must be bigint");
  if (fieldOrder <= _1n2)
    throw new Error("field order must be greater than 1");
  const bitLength = bitLen(fieldOrder - _1n2);
  return Math.ceil(bitLength / 8);
}
function getMinHashLength(fieldOrder) {
  const length = getFieldBytesLength(fieldOrder);
  return length + Math.ceil(length / 2);
}
function mapHashToField(key, fieldOrder, isLE2 = false) {
  abytes2(key);
  const len = key.length;
  const fieldLen = getFieldBytesLength(fieldOrder);
  const minLen = Math.max(getMinHashLength(fieldOrder), 16);
  if (len < minLen || len > 1024)
    throw new Error("expected " + minLen + "-1024 bytes of input, got " + len);
  const num = isLE2 ? bytesToNumberLE(key) : bytesToNumberBE(key);
  const reduced = mod(num, fieldOrder - _1n2) + _1n2;
  return isLE2 ? numberToBytesLE(reduced, fieldLen) : numberToBytesBE(reduced, fieldLen);
}
var _0n2, _1n2, _2n, _3n, _4n, _5n, _7n, _8n, _9n, _15n, _16n, POW_WINDOWED_MIN, isNegativeLE, FIELD_FIELDS, FIELD_SQRT, _Field;
var init_modular = __esm({
  "node_modules/@noble/curves/abstract/modular.js"() {
    init_utils2();
    _0n2 = /* @__PURE__ */ BigInt(0);
    _1n2 = /* @__PURE__ */ BigInt(1);
    _2n = /* @__PURE__ */ BigInt(2);
    _3n = /* @__PURE__ */ BigInt(3);
    _4n = /* @__PURE__ */ BigInt(4);
    _5n = /* @__PURE__ */ BigInt(5);
    _7n = /* @__PURE__ */ BigInt(7);
    _8n = /* @__PURE__ */ BigInt(8);
    _9n = /* @__PURE__ */ BigInt(9);
    _15n = /* @__PURE__ */ BigInt(15);
    _16n = /* @__PURE__ */ BigInt(16);
    POW_WINDOWED_MIN = /* @__PURE__ */ BigInt("0x10000000000000000");
    isNegativeLE = (num, modulo) => (mod(num, modulo) & _1n2) === _1n2;
    FIELD_FIELDS = [
      "create",
      "isValid",
      "is0",
      "neg",
      "inv",
      "sqrt",
      "sqr",
      "eql",
      "add",
      "sub",
      "mul",
      "pow",
      "div",
      "addN",
      "subN",
      "mulN",
      "sqrN"
    ];
    FIELD_SQRT = /* @__PURE__ */ new WeakMap();
    _Field = class {
      ORDER;
      BITS;
      BYTES;
      isLE;
      ZERO = _0n2;
      ONE = _1n2;
      _lengths;
      _mod;
      constructor(ORDER, opts = {}) {
        if (ORDER <= _1n2)
          throw new Error("invalid field: expected ORDER > 1, got " + ORDER);
        let _nbitLength = void 0;
        this.isLE = false;
        if (opts != null && typeof opts === "object") {
          if (typeof opts.BITS === "number")
            _nbitLength = opts.BITS;
          if (typeof opts.sqrt === "function")
            Object.defineProperty(this, "sqrt", { value: opts.sqrt, enumerable: true });
          if (typeof opts.isLE === "boolean")
            this.isLE = opts.isLE;
          if (opts.allowedLengths)
            this._lengths = Object.freeze(opts.allowedLengths.slice());
          if (typeof opts.modFromBytes === "boolean")
            this._mod = opts.modFromBytes;
        }
        const { nBitLength, nByteLength } = nLength(ORDER, _nbitLength);
        if (nByteLength > 2048)
          throw new Error("invalid field: expected ORDER of <= 2048 bytes");
        this.ORDER = ORDER;
        this.BITS = nBitLength;
        this.BYTES = nByteLength;
        Object.freeze(this);
      }
      create(num) {
        return mod(num, this.ORDER);
      }
      isValid(num) {
        if (typeof num !== "bigint")
          throw new TypeError("invalid field element: expected bigint, got " + typeof num);
        return _0n2 <= num && num < this.ORDER;
      }
      is0(num) {
        return num === _0n2;
      }
      // is valid and invertible
      isValidNot0(num) {
        return !this.is0(num) && this.isValid(num);
      }
      isOdd(num) {
        return (num & _1n2) === _1n2;
      }
      neg(num) {
        return mod(-num, this.ORDER);
      }
      eql(lhs, rhs) {
        return lhs === rhs;
      }
      sqr(num) {
        return mod(num * num, this.ORDER);
      }
      add(lhs, rhs) {
        return mod(lhs + rhs, this.ORDER);
      }
      sub(lhs, rhs) {
        return mod(lhs - rhs, this.ORDER);
      }
      mul(lhs, rhs) {
        return mod(lhs * rhs, this.ORDER);
      }
      pow(num, power) {
        return pow(num, power, this.ORDER);
      }
      div(lhs, rhs) {
        return mod(lhs * invert(rhs, this.ORDER), this.ORDER);
      }
      // Same as above, but doesn't normalize
      sqrN(num) {
        return num * num;
      }
      addN(lhs, rhs) {
        return lhs + rhs;
      }
      subN(lhs, rhs) {
        return lhs - rhs;
      }
      mulN(lhs, rhs) {
        return lhs * rhs;
      }
      inv(num) {
        return invert(num, this.ORDER);
      }
      sqrt(num) {
        let sqrt = FIELD_SQRT.get(this);
        if (!sqrt)
          FIELD_SQRT.set(this, sqrt = FpSqrt(this.ORDER));
        return sqrt(this, num);
      }
      toBytes(num) {
        return this.isLE ? numberToBytesLE(num, this.BYTES) : numberToBytesBE(num, this.BYTES);
      }
      fromBytes(bytes, skipValidation = false) {
        abytes2(bytes);
        const { _lengths: allowedLengths, BYTES, isLE: isLE2, ORDER, _mod: modFromBytes } = this;
        if (allowedLengths) {
          if (bytes.length < 1 || !allowedLengths.includes(bytes.length) || bytes.length > BYTES) {
            throw new Error("Field.fromBytes: expected " + allowedLengths + " bytes, got " + bytes.length);
          }
          const padded = new Uint8Array(BYTES);
          padded.set(bytes, isLE2 ? 0 : padded.length - bytes.length);
          bytes = padded;
        }
        if (bytes.length !== BYTES)
          throw new Error("Field.fromBytes: expected " + BYTES + " bytes, got " + bytes.length);
        let scalar = isLE2 ? bytesToNumberLE(bytes) : bytesToNumberBE(bytes);
        if (modFromBytes)
          scalar = mod(scalar, ORDER);
        if (!skipValidation) {
          if (!this.isValid(scalar))
            throw new Error("invalid field element: outside of range 0..ORDER");
        }
        return scalar;
      }
      // TODO: we don't need it here, move out to separate fn
      invertBatch(lst) {
        return FpInvertBatch(this, lst, true);
      }
      // We can't move this out because Fp6, Fp12 implement it
      // and it's unclear what to return in there.
      cmov(a, b, condition) {
        abool2(condition, "condition");
        return condition ? b : a;
      }
    };
  }
});

// node_modules/@noble/curves/abstract/curve.js
function validatePointCons(Point) {
  const pc = Point;
  if (typeof pc !== "function")
    throw new TypeError('"Point" expected constructor, got type=' + typeof Point);
  afunction(pc.fromAffine, "Point.fromAffine");
  afunction(pc.fromBytes, "Point.fromBytes");
  afunction(pc.fromHex, "Point.fromHex");
  aobject2(pc.BASE, "Point.BASE");
  aobject2(pc.ZERO, "Point.ZERO");
  validateField(pc.Fp);
  validateField(pc.Fn);
}
function normalizeZ(c, points) {
  validatePointCons(c);
  validateMSMPoints(points, c);
  const invertedZs = FpInvertBatch(c.Fp, points.map((p) => p.Z));
  return points.map((p, i) => c.fromAffine(p.toAffine(invertedZs[i])));
}
function validateW(W, bits, min = 1) {
  if (!Number.isSafeInteger(W) || W < min || W > bits)
    throw new Error("invalid window size, expected [" + min + ".." + bits + "], got W=" + W);
}
function validateTableBytes(numPoints, fpBytes) {
  const bytes = numPoints * (4 * fpBytes + 128);
  if (bytes > TABLE_BYTES_MAX)
    throw new Error("invalid window size: table would need ~" + Math.ceil(bytes / 2 ** 20) + " MiB, max " + TABLE_BYTES_MAX / 2 ** 20 + " MiB");
}
function probeRandomBytes(randomBytes4, length) {
  if (randomBytes4 === void 0)
    return void 0;
  afunction(randomBytes4, "randomBytes");
  try {
    const probe = randomBytes4(length);
    if (!isBytes2(probe) || probe.length !== length)
      return void 0;
  } catch {
    return void 0;
  }
  return randomBytes4;
}
function validateMSMPoints(points, c) {
  aarray(points, "points");
  points.forEach((p, i) => {
    if (!(p instanceof c))
      throw new Error("invalid point at index " + i);
  });
}
function validateMSMScalars(scalars, field, maxScalar) {
  if (!Array.isArray(scalars))
    throw new Error("array of scalars expected");
  scalars.forEach((s, i) => {
    const ok = maxScalar === void 0 ? field.isValid(s) : isPosBig(s) && s < maxScalar;
    if (!ok)
      throw new Error("invalid scalar at index " + i);
  });
}
function getWindowSize(P) {
  return pointWindowSizes.get(P) || 1;
}
function oddMultiples(p, size) {
  const dbl = p.double();
  const t = [p];
  for (let j = 1; j < size; j++)
    t.push(t[j - 1].add(dbl));
  return t;
}
function wnafDigits(n, W) {
  const size = 2 ** W;
  const half2 = size / 2;
  const mask = BigInt(size - 1);
  const d = [];
  while (n > _0n3) {
    let w = 0;
    if (n & _1n3) {
      w = Number(n & mask);
      if (w >= half2)
        w -= size;
      n -= BigInt(w);
    }
    d.push(w);
    n >>= _1n3;
  }
  return d;
}
function signedWindowDigits(n, W, windows) {
  const size = 2 ** W;
  const half2 = size / 2;
  const mask = BigInt(size - 1);
  const shiftBy = BigInt(W);
  const d = [];
  for (let w = 0; w < windows; w++) {
    let v = Number(n & mask);
    n >>= shiftBy;
    if (v > half2) {
      v -= size;
      n += _1n3;
    }
    d.push(v);
  }
  if (n !== _0n3)
    throw new Error("invalid wnaf");
  return d;
}
function wnafWalk(zero, tables, digits) {
  let max = 0;
  for (const d of digits)
    max = Math.max(max, d.length);
  let acc = zero;
  for (let bit = max - 1; bit >= 0; bit--) {
    if (bit !== max - 1)
      acc = acc.double();
    for (let i = 0; i < digits.length; i++) {
      const w = digits[i][bit];
      if (w) {
        const item = tables[i][Math.abs(w) - 1 >> 1];
        acc = acc.add(w < 0 ? item.negate() : item);
      }
    }
  }
  return acc;
}
function mulAddUnsafe(c, points, scalars, allowOversized = false) {
  validatePointCons(c);
  validateMSMPoints(points, c);
  abool2(allowOversized, "allowOversized");
  validateMSMScalars(scalars, c.Fn, allowOversized ? c.Fn.ORDER ** _4n2 : void 0);
  if (points.length !== scalars.length)
    throw new Error("arrays of points and scalars must have equal length");
  const tables = points.map((p) => oddMultiples(p, 4));
  const digits = scalars.map((n) => wnafDigits(n, 4));
  return wnafWalk(c.ZERO, tables, digits);
}
function createField(order, field, isLE2) {
  if (field) {
    if (field.ORDER !== order)
      throw new Error("Field.ORDER must match order: Fp == p, Fn == n");
    validateField(field);
    return field;
  } else {
    return Field(order, { isLE: isLE2 });
  }
}
function createCurveFields(type, CURVE, curveOpts = {}, FpFnLE) {
  if (type !== "weierstrass" && type !== "edwards")
    throw new Error('expected curve type "weierstrass" or "edwards"');
  if (FpFnLE === void 0)
    FpFnLE = type === "edwards";
  if (!CURVE || typeof CURVE !== "object")
    throw new Error(`expected valid ${type} CURVE object`);
  validateObject(curveOpts);
  for (const p of ["p", "n", "h"]) {
    const val = CURVE[p];
    if (!(isPosBig(val) && val !== _0n3))
      throw new Error(`CURVE.${p} must be positive bigint`);
  }
  const Fp2 = createField(CURVE.p, curveOpts.Fp, FpFnLE);
  const Fn = createField(CURVE.n, curveOpts.Fn, FpFnLE);
  const _b = type === "weierstrass" ? "b" : "d";
  const params = ["Gx", "Gy", "a", _b];
  for (const p of params) {
    if (!Fp2.isValid(CURVE[p]))
      throw new Error(`CURVE.${p} must be valid field element of CURVE.Fp`);
  }
  CURVE = Object.freeze(Object.assign({}, CURVE));
  return { CURVE, Fp: Fp2, Fn };
}
function createKeygen(randomSecretKey, getPublicKey) {
  return function keygen(seed) {
    const secretKey = randomSecretKey(seed);
    return { secretKey, publicKey: getPublicKey(secretKey) };
  };
}
var _0n3, _1n3, _4n2, BLIND_BYTES, BLIND_BITS, FW_WINDOW, TABLE_BYTES_MAX, pointWindowSizes, ScalarMultiplier;
var init_curve = __esm({
  "node_modules/@noble/curves/abstract/curve.js"() {
    init_utils2();
    init_modular();
    _0n3 = /* @__PURE__ */ BigInt(0);
    _1n3 = /* @__PURE__ */ BigInt(1);
    _4n2 = /* @__PURE__ */ BigInt(4);
    BLIND_BYTES = 16;
    BLIND_BITS = 128;
    FW_WINDOW = 5;
    TABLE_BYTES_MAX = /* @__PURE__ */ (() => 2 ** 31)();
    pointWindowSizes = /* @__PURE__ */ new WeakMap();
    ScalarMultiplier = class {
      Point;
      BASE;
      ZERO;
      randomBytes;
      wnafPrecomputes = /* @__PURE__ */ new WeakMap();
      baseCanBeBlinded;
      bits;
      // Parametrized with a given Point class (not individual point)
      constructor(Point, randomBytes4) {
        validatePointCons(Point);
        this.randomBytes = probeRandomBytes(randomBytes4, BLIND_BYTES);
        this.Point = Point;
        this.BASE = Point.BASE;
        this.ZERO = Point.ZERO;
        this.bits = Point.Fn.BITS;
      }
      /**
       * Creates a signed fixed-window wNAF precomputation table: for every window w, the
       * multiples `[1..2^(W−1)]⋅2^(w⋅W)⋅P`, flattened. All doublings are baked into the table,
       * so cached multiplication is additions-only. `windows = ceil(bits/W) + 1`: the extra
       * window absorbs the final carry of signed-digit recoding.
       * For a 256-bit curve and W=6, the table is 44⋅32 = 1408 points.
       * @param point - Point instance
       * @param W - window size
       * @param bits - scalar bitlength the table must cover
       */
      buildWnafTable(point, W, bits) {
        const windows = Math.ceil(bits / W) + 1;
        const half2 = 2 ** (W - 1);
        const comp = [];
        let base = point;
        for (let w = 0; w < windows; w++) {
          let acc = base;
          for (let i = 0; i < half2; i++) {
            comp.push(acc);
            acc = acc.add(base);
          }
          base = comp[comp.length - 1].double();
        }
        return { W, bits, windows, comp };
      }
      /**
       * Implements ec multiplication using precomputed signed fixed-window wNAF tables.
       * Constant-time: fixed window count with one table addition per window — zero digits feed
       * the fake accumulator — and no doublings; the lookup scans the whole window slice.
       * Scalar bounds are validated by the public entry points ({@link ScalarMultiplier.mulCT},
       * {@link ScalarMultiplier.mulCTBlinded}, {@link ScalarMultiplier.mulUnsafe});
       * signedWindowDigits throws if `n` exceeds the table.
       * @returns real and fake (for const-time) points
       */
      wnafCachedCT(precomputes, n) {
        const { W, windows, comp } = precomputes;
        const half2 = 2 ** (W - 1);
        const digits = signedWindowDigits(n, W, windows);
        let p = this.ZERO;
        let f = this.BASE;
        for (let w = 0; w < windows; w++) {
          const digit = digits[w];
          const start = w * half2;
          const idx = Math.abs(digit) - 1;
          let sel = comp[start];
          for (let i = 1; i < half2; i++)
            sel = i === idx ? comp[start + i] : sel;
          const neg = sel.negate();
          if (digit === 0)
            f = f.add(comp[start]);
          else
            p = p.add(digit < 0 ? neg : sel);
        }
        return { p, f };
      }
      // Cache key is point identity plus (W, bits); at most two entries exist per point (public-width
      // `Fn.BITS` and blinded `Fn.BITS + BLIND_BITS`). Callers must not reuse the same point with
      // incompatible `transform(...)` layouts and expect a separate cache entry.
      getWnafPrecomputes(W, point, bits, transform) {
        let entries = this.wnafPrecomputes.get(point);
        let comp = entries?.find((entry) => entry.W === W && entry.bits === bits);
        if (!comp) {
          comp = this.buildWnafTable(point, W, bits);
          if (typeof transform === "function")
            comp = { ...comp, comp: transform(comp.comp) };
          if (!entries) {
            entries = [];
            this.wnafPrecomputes.set(point, entries);
          }
          entries.push(comp);
        }
        return comp;
      }
      assertPoint(point) {
        if (!(point instanceof this.Point))
          throw new TypeError('"point" expected Point instance, got type=' + typeof point);
      }
      // Shared prologue of the constant-time entry points. Rejects scalar 0: in key/signature-style
      // callers a zero scalar means broken upstream plumbing, and concrete Points already reject it.
      // Uses inRange instead of Fn.isValidNot0: validateField() only certifies the arithmetic subset.
      validateMulInput(point, scalar) {
        this.assertPoint(point);
        if (!inRange(scalar, _1n3, this.Point.Fn.ORDER))
          throw new Error("invalid scalar");
      }
      // Constant-time dispatch shared by mulCT / mulCTBlinded. Un-precomputed points (W===1, e.g.
      // ECDH peer keys) skip building a throwaway cached table in favor of a small fixed-window
      // multiply. `n` must be < 2^bits.
      runCT(point, n, bits, transform) {
        const W = getWindowSize(point);
        if (W === 1)
          return this.fixedWindowCT(point, n, bits);
        return this.wnafCachedCT(this.getWnafPrecomputes(W, point, bits, transform), n);
      }
      mulCT(point, scalar, transform) {
        this.validateMulInput(point, scalar);
        return this.runCT(point, scalar, this.bits, transform);
      }
      mulCTBlinded(point, scalar, transform) {
        this.validateMulInput(point, scalar);
        if (this.randomBytes === void 0)
          throw new Error("randomBytes is required for scalar blinding");
        const bits = this.Point.Fn.BITS + BLIND_BITS;
        const blind = this.randomBytes(BLIND_BYTES);
        if (!isBytes2(blind) || blind.length !== BLIND_BYTES)
          throw new Error("randomBytes returned invalid byte array");
        blind[0] = blind[0] & 63 | 128;
        const n = scalar + bytesToNumberBE(blind) * this.Point.Fn.ORDER;
        return this.runCT(point, n, bits, transform);
      }
      /**
       * Constant-time multiplication `n*point` for an un-precomputed point, via a small fixed window.
       * A cached wNAF table only pays off when reused; a flat 2^FW_WINDOW table (`size-1` adds) is
       * far cheaper to build for a single use. The point-operation sequence is independent of `n`:
       * build the table, then per window exactly FW_WINDOW doublings, a data-oblivious scan over
       * every table entry, and one addition (adds the identity when the window digit is 0 — never
       * skipped).
       *
       * `n` must be `< 2^bits`. Assumes complete addition (adding the identity costs the same as any
       * add), which holds for the Weierstrass/Edwards point types used here. The table is left in
       * projective form (no normalizeZ): normalizing this small a table costs more than the
       * mixed-add savings it would buy for a single multiply.
       * @returns real point `p`; `f` duplicates it only to match {@link wnafCachedCT}'s return shape
       * (this path needs no fake accumulator — its op-count is already scalar-independent).
       */
      fixedWindowCT(point, n, bits) {
        const W = FW_WINDOW;
        const size = 1 << W;
        const mask = bitMask(W);
        const table2 = new Array(size);
        table2[0] = this.ZERO;
        for (let i = 1; i < size; i++)
          table2[i] = table2[i - 1].add(point);
        const windows = Math.ceil(bits / W);
        let acc = this.ZERO;
        for (let window = windows - 1; window >= 0; window--) {
          if (window !== windows - 1)
            for (let d = 0; d < W; d++)
              acc = acc.double();
          const digit = Number(n >> BigInt(window * W) & mask);
          let sel = table2[0];
          for (let i = 1; i < size; i++)
            sel = i === digit ? table2[i] : sel;
          acc = acc.add(sel);
        }
        return { p: acc, f: acc };
      }
      shouldBlind(point, cofactor) {
        if (this.randomBytes === void 0)
          return false;
        if (cofactor === _1n3)
          return true;
        if (point !== this.BASE)
          return false;
        if (this.baseCanBeBlinded === void 0)
          this.baseCanBeBlinded = this.mulUnsafe(this.BASE, this.Point.Fn.ORDER).is0();
        return this.baseCanBeBlinded;
      }
      mulSecret(point, scalar, cofactor, transform) {
        return this.shouldBlind(point, cofactor) ? this.mulCTBlinded(point, scalar, transform) : this.mulCT(point, scalar, transform);
      }
      mulUnsafe(point, scalar, transform) {
        this.assertPoint(point);
        if (!isPosBig(scalar))
          throw new Error("invalid scalar");
        const W = getWindowSize(point);
        if (W === 1 || scalar >= this.Point.Fn.ORDER)
          return mulAddUnsafe(this.Point, [point], [scalar], true);
        const precomputes = this.getWnafPrecomputes(W, point, this.bits, transform);
        return this.wnafCachedCT(precomputes, scalar).p;
      }
      // Remembers the window size used for precomputed wNAF multiplication of the given point
      // and drops any previously built tables. Usually only the base point is precomputed.
      // W=1 resets the point to the un-precomputed (table-less) paths.
      // W is additionally capped so tables stay under ~2 GiB ({@link TABLE_BYTES_MAX}).
      setWindowSize(point, W) {
        this.assertPoint(point);
        validateW(W, this.bits);
        const windows = Math.ceil((this.bits + BLIND_BITS) / W) + 1;
        validateTableBytes(windows * 2 ** (W - 1), this.Point.Fp.BYTES);
        pointWindowSizes.set(point, W);
        this.wnafPrecomputes.delete(point);
      }
      // True when a window size is set: tables themselves are built lazily on first multiply.
      hasWindowSize(point) {
        return getWindowSize(point) !== 1;
      }
    };
  }
});

// node_modules/@noble/curves/abstract/edwards.js
function isEdValidXY(Fp2, CURVE, x, y) {
  const x2 = Fp2.sqr(x);
  const y2 = Fp2.sqr(y);
  const left = Fp2.add(Fp2.mul(CURVE.a, x2), y2);
  const right = Fp2.add(Fp2.ONE, Fp2.mul(CURVE.d, Fp2.mul(x2, y2)));
  return Fp2.eql(left, right);
}
function edwards(params, extraOpts = {}) {
  validateObject(extraOpts, {}, {}, "extraOpts");
  const opts = extraOpts;
  const validated = createCurveFields("edwards", params, opts, opts.FpFnLE);
  const { Fp: Fp2, Fn } = validated;
  let CURVE = validated.CURVE;
  const { h: cofactor } = CURVE;
  if (FpLegendre(Fp2, CURVE.a) !== 1)
    throw new Error("edwards: CURVE.a must be a square in Fp for complete addition formulas");
  if (FpLegendre(Fp2, CURVE.d) !== -1)
    throw new Error("edwards: CURVE.d must be a non-square in Fp for complete addition formulas");
  validateObject(opts, {}, { uvRatio: "function", randomBytes: "function" });
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const MASK = _2n2 << BigInt(Fp2.BYTES * 8) - _1n4;
  function isOdd(n) {
    if (!Fp2.isOdd)
      throw new Error("Field does not have .isOdd()");
    return Fp2.isOdd(n);
  }
  const uvRatio2 = opts.uvRatio === void 0 ? (u, v) => {
    try {
      return { isValid: true, value: Fp2.sqrt(Fp2.div(u, v)) };
    } catch (e) {
      return { isValid: false, value: _0n4 };
    }
  } : opts.uvRatio;
  if (!isEdValidXY(Fp2, CURVE, CURVE.Gx, CURVE.Gy))
    throw new Error("bad curve params: generator point");
  const mulA = Fp2.eql(CURVE.a, Fp2.neg(Fp2.ONE)) ? (x) => Fp2.neg(x) : Fp2.eql(CURVE.a, Fp2.ONE) ? (x) => x : (x) => Fp2.mul(CURVE.a, x);
  function acoord(title, n, banZero = false) {
    const min = banZero ? _1n4 : _0n4;
    aInRange("coordinate " + title, n, min, MASK);
    return n;
  }
  function aedpoint(other) {
    if (!(other instanceof Point))
      throw new Error("EdwardsPoint expected");
  }
  class Point {
    static BASE = new Point(CURVE.Gx, CURVE.Gy, Fp2.ONE, Fp2.mul(CURVE.Gx, CURVE.Gy));
    static ZERO = new Point(Fp2.ZERO, Fp2.ONE, Fp2.ONE, Fp2.ZERO);
    static Fp = Fp2;
    static Fn = Fn;
    X;
    Y;
    Z;
    T;
    constructor(X, Y, Z, T) {
      this.X = acoord("x", X);
      this.Y = acoord("y", Y);
      this.Z = acoord("z", Z, true);
      this.T = acoord("t", T);
      Object.freeze(this);
    }
    static CURVE() {
      return CURVE;
    }
    /**
     * Create one extended Edwards point from affine coordinates.
     * Does NOT validate that the point is on-curve or torsion-free.
     * Use `.assertValidity()` on adversarial inputs.
     */
    static fromAffine(p) {
      if (p instanceof Point)
        throw new Error("extended point not allowed");
      const { x, y } = p || {};
      acoord("x", x);
      acoord("y", y);
      return new Point(x, y, Fp2.ONE, Fp2.mul(x, y));
    }
    // Uses algo from RFC8032 5.1.3.
    static fromBytes(bytes, zip215 = false) {
      const len = Fp2.BYTES;
      const { a, d } = CURVE;
      bytes = copyBytes(abytes2(bytes, len, "point"));
      abool2(zip215, "zip215");
      const normed = copyBytes(bytes);
      const lastByte = bytes[len - 1];
      normed[len - 1] = lastByte & ~128;
      const y = bytesToNumberLE(normed);
      const max = zip215 ? MASK : Fp2.ORDER;
      aInRange("point.y", y, _0n4, max);
      const y2 = Fp2.sqr(y);
      const u = Fp2.sub(y2, Fp2.ONE);
      const v = Fp2.sub(Fp2.mulN(d, y2), a);
      let { isValid, value: x } = uvRatio2(u, v);
      if (!isValid)
        throw new Error("bad point: invalid y coordinate");
      const isXOdd = isOdd(x);
      const isLastByteOdd = (lastByte & 128) !== 0;
      if (!zip215 && Fp2.is0(x) && isLastByteOdd)
        throw new Error("bad point: x=0 and x_0=1");
      if (isLastByteOdd !== isXOdd)
        x = Fp2.neg(x);
      return Point.fromAffine({ x, y });
    }
    static fromHex(hex, zip215 = false) {
      return Point.fromBytes(hexToBytes2(hex), zip215);
    }
    get x() {
      return this.toAffine().x;
    }
    get y() {
      return this.toAffine().y;
    }
    precompute(windowSize = 6, isLazy = true) {
      wnaf.setWindowSize(this, windowSize);
      if (!isLazy)
        this.multiply(_2n2);
      return this;
    }
    // Useful in fromAffine() - not for fromBytes(), which always created valid points.
    assertValidity() {
      const p = this;
      const { a, d } = CURVE;
      if (p.is0())
        throw new Error("bad point: ZERO");
      const { X, Y, Z, T } = p;
      const X2 = Fp2.sqr(X);
      const Y2 = Fp2.sqr(Y);
      const Z2 = Fp2.sqr(Z);
      const Z4 = Fp2.sqr(Z2);
      const aX2 = Fp2.mul(X2, a);
      const left = Fp2.mul(Fp2.add(aX2, Y2), Z2);
      const right = Fp2.add(Z4, Fp2.mul(d, Fp2.mul(X2, Y2)));
      if (!Fp2.eql(left, right))
        throw new Error("bad point: equation left != right (1)");
      const XY = Fp2.mul(X, Y);
      const ZT = Fp2.mul(Z, T);
      if (!Fp2.eql(XY, ZT))
        throw new Error("bad point: equation left != right (2)");
    }
    // Compare one point to another.
    equals(other) {
      aedpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      const X1Z2 = Fp2.mul(X1, Z2);
      const X2Z1 = Fp2.mul(X2, Z1);
      const Y1Z2 = Fp2.mul(Y1, Z2);
      const Y2Z1 = Fp2.mul(Y2, Z1);
      return Fp2.eql(X1Z2, X2Z1) && Fp2.eql(Y1Z2, Y2Z1);
    }
    is0() {
      return this.equals(Point.ZERO);
    }
    negate() {
      return new Point(Fp2.neg(this.X), this.Y, this.Z, Fp2.neg(this.T));
    }
    // Fast algo for doubling Extended Point.
    // https://hyperelliptic.org/EFD/g1p/auto-twisted-extended.html#doubling-dbl-2008-hwcd
    // Cost: 4M + 4S + 1*a + 6add + 1*2.
    double() {
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const A = Fp2.sqr(X1);
      const B2 = Fp2.sqr(Y1);
      const C = Fp2.mul(Fp2.sqr(Z1), _2n2);
      const D2 = mulA(A);
      const x1y1 = Fp2.addN(X1, Y1);
      const E = Fp2.sub(Fp2.subN(Fp2.sqr(x1y1), A), B2);
      const G = Fp2.addN(D2, B2);
      const F2 = Fp2.subN(G, C);
      const H = Fp2.subN(D2, B2);
      const X3 = Fp2.mul(E, F2);
      const Y3 = Fp2.mul(G, H);
      const T3 = Fp2.mul(E, H);
      const Z3 = Fp2.mul(F2, G);
      return new Point(X3, Y3, Z3, T3);
    }
    // Fast algo for adding 2 Extended Points.
    // https://hyperelliptic.org/EFD/g1p/auto-twisted-extended.html#addition-add-2008-hwcd
    // Cost: 9M + 1*a + 1*d + 7add.
    add(other) {
      aedpoint(other);
      const { d } = CURVE;
      const { X: X1, Y: Y1, Z: Z1, T: T1 } = this;
      const { X: X2, Y: Y2, Z: Z2, T: T2 } = other;
      const A = Fp2.mul(X1, X2);
      const B2 = Fp2.mul(Y1, Y2);
      const C = Fp2.mul(Fp2.mulN(T1, d), T2);
      const D2 = Fp2.mul(Z1, Z2);
      const E = Fp2.sub(Fp2.subN(Fp2.mulN(Fp2.addN(X1, Y1), Fp2.addN(X2, Y2)), A), B2);
      const F2 = Fp2.subN(D2, C);
      const G = Fp2.addN(D2, C);
      const H = Fp2.sub(B2, mulA(A));
      const X3 = Fp2.mul(E, F2);
      const Y3 = Fp2.mul(G, H);
      const T3 = Fp2.mul(E, H);
      const Z3 = Fp2.mul(F2, G);
      return new Point(X3, Y3, Z3, T3);
    }
    subtract(other) {
      aedpoint(other);
      return this.add(other.negate());
    }
    // Constant-time multiplication.
    multiply(scalar) {
      if (!Fn.isValidNot0(scalar))
        throw new RangeError("invalid scalar: expected 1 <= sc < curve.n");
      const { p, f } = wnaf.mulSecret(this, scalar, cofactor, normalize);
      return normalize([p, f])[0];
    }
    // Non-constant-time multiplication. Uses double-and-add algorithm.
    // It's faster, but should only be used when you don't care about
    // an exposed private key e.g. sig verification.
    // Keeps the same subgroup-scalar contract: 0 is allowed for public-scalar callers, but
    // n and larger values are rejected instead of being reduced mod n to the identity point.
    multiplyUnsafe(scalar) {
      if (!Fn.isValid(scalar))
        throw new RangeError("invalid scalar: expected 0 <= sc < curve.n");
      if (scalar === _0n4)
        return Point.ZERO;
      if (this.is0() || scalar === _1n4)
        return this;
      return wnaf.mulUnsafe(this, scalar, normalize);
    }
    // Checks if point is of small order.
    // If you add something to small order point, you will have "dirty"
    // point with torsion component.
    // Clears cofactor and checks if the result is 0.
    isSmallOrder() {
      return this.clearCofactor().is0();
    }
    // Multiplies point by curve order and checks if the result is 0.
    // Returns `false` is the point is dirty.
    isTorsionFree() {
      return wnaf.mulUnsafe(this, CURVE.n).is0();
    }
    // Converts Extended point to default (x, y) coordinates.
    // Can accept precomputed Z^-1 - for example, from invertBatch.
    toAffine(invertedZ) {
      const p = this;
      let iz = invertedZ;
      if (iz != null && typeof iz !== "bigint")
        throw new TypeError('"invertedZ" expected bigint, got type=' + typeof iz);
      const { X, Y, Z } = p;
      const is0 = p.is0();
      if (iz == null)
        iz = is0 ? Fp2.create(_8n2) : Fp2.inv(Z);
      const x = Fp2.mul(X, iz);
      const y = Fp2.mul(Y, iz);
      const zz = Fp2.mul(Z, iz);
      if (is0)
        return { x: Fp2.ZERO, y: Fp2.ONE };
      if (!Fp2.eql(zz, Fp2.ONE))
        throw new Error("invZ was invalid");
      return { x, y };
    }
    clearCofactor() {
      if (cofactor === _1n4)
        return this;
      if (cofactor === _2n2)
        return this.double();
      if (cofactor === _4n3)
        return this.double().double();
      if (cofactor === _8n2)
        return this.double().double().double();
      return this.multiplyUnsafe(cofactor);
    }
    toBytes() {
      const { x, y } = this.toAffine();
      const bytes = Fp2.toBytes(y);
      bytes[bytes.length - 1] |= isOdd(x) ? 128 : 0;
      return bytes;
    }
    toHex() {
      return bytesToHex2(this.toBytes());
    }
    toString() {
      return `<Point ${this.is0() ? "ZERO" : this.toHex()}>`;
    }
  }
  const normalize = (points) => normalizeZ(Point, points);
  const wnaf = new ScalarMultiplier(Point, randomBytes4);
  if (wnaf.bits >= 6)
    Point.BASE.precompute(6);
  Object.freeze(Point.prototype);
  Object.freeze(Point);
  return Point;
}
function eddsa(Point, cHash, eddsaOpts = {}) {
  validatePointCons(Point);
  if (typeof cHash !== "function")
    throw new Error('"hash" function param is required');
  const hash = cHash;
  const opts = eddsaOpts;
  validateObject(opts, {}, {
    adjustScalarBytes: "function",
    randomBytes: "function",
    domain: "function",
    prehash: "function",
    zip215: "boolean",
    mapToCurve: "function",
    toMontgomery: "function",
    toMontgomerySecret: "function"
  });
  const { prehash } = opts;
  const { BASE, Fp: Fp2, Fn } = Point;
  const outputLen = hash.outputLen;
  const expectedLen = 2 * Fp2.BYTES;
  if (outputLen !== void 0) {
    asafenumber(outputLen, "hash.outputLen");
    if (outputLen !== expectedLen)
      throw new Error(`hash.outputLen must be ${expectedLen}, got ${outputLen}`);
  }
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const toMontgomery2 = opts.toMontgomery;
  const toMontgomerySecret2 = opts.toMontgomerySecret;
  const adjustScalarBytes2 = opts.adjustScalarBytes === void 0 ? (bytes) => bytes : opts.adjustScalarBytes;
  const domain = opts.domain === void 0 ? (data, ctx, phflag) => {
    abool2(phflag, "phflag");
    if (ctx.length || phflag)
      throw new Error("Contexts/pre-hash are not supported");
    return data;
  } : opts.domain;
  function modN_LE(hash2) {
    return Fn.create(bytesToNumberLE(hash2));
  }
  function getPrivateScalar(key) {
    const len = lengths.secretKey;
    abytes2(key, lengths.secretKey, "secretKey");
    const hashed2 = abytes2(hash(key), 2 * len, "hashedSecretKey");
    const head = adjustScalarBytes2(hashed2.slice(0, len));
    const prefix = hashed2.slice(len, 2 * len);
    const scalar = modN_LE(head);
    return { head, prefix, scalar };
  }
  function getExtendedPublicKey(secretKey) {
    const { head, prefix, scalar } = getPrivateScalar(secretKey);
    const point = BASE.multiply(scalar);
    const pointBytes = point.toBytes();
    return { head, prefix, scalar, point, pointBytes };
  }
  function getPublicKey(secretKey) {
    return getExtendedPublicKey(secretKey).pointBytes;
  }
  function hashDomainToScalar(context = Uint8Array.of(), ...msgs) {
    const msg = concatBytes3(...msgs);
    return modN_LE(hash(domain(msg, abytes2(context, void 0, "context"), !!prehash)));
  }
  function sign(msg, secretKey, options = {}) {
    validateObject(options, {}, {}, "options");
    msg = copyBytes(abytes2(msg, void 0, "message"));
    if (prehash)
      msg = prehash(msg);
    const { prefix, scalar, pointBytes } = getExtendedPublicKey(secretKey);
    const r = hashDomainToScalar(options.context, prefix, msg);
    const R = BASE.multiply(r).toBytes();
    const k = hashDomainToScalar(options.context, R, pointBytes, msg);
    const s = Fn.create(r + k * scalar);
    if (!Fn.isValid(s))
      throw new Error("sign failed: invalid s");
    const rs = concatBytes3(R, Fn.toBytes(s));
    return abytes2(rs, lengths.signature, "result");
  }
  const verifyOpts = {
    zip215: opts.zip215
  };
  function verify2(sig, msg, publicKey, options = verifyOpts) {
    validateObject(options);
    const { context } = options;
    const zip215 = options.zip215 === void 0 ? !!verifyOpts.zip215 : options.zip215;
    const len = lengths.signature;
    sig = abytes2(sig, len, "signature");
    msg = abytes2(msg, void 0, "message");
    publicKey = abytes2(publicKey, lengths.publicKey, "publicKey");
    if (zip215 !== void 0)
      abool2(zip215, "zip215");
    if (prehash)
      msg = prehash(msg);
    const mid = len / 2;
    const r = sig.subarray(0, mid);
    const s = bytesToNumberLE(sig.subarray(mid, len));
    let A, R, SB;
    try {
      A = Point.fromBytes(publicKey, zip215);
      R = Point.fromBytes(r, zip215);
      SB = BASE.multiplyUnsafe(s);
    } catch (error) {
      return false;
    }
    if (!zip215 && A.isSmallOrder())
      return false;
    const k = hashDomainToScalar(context, r, publicKey, msg);
    const RkA = R.add(A.multiplyUnsafe(k));
    return RkA.subtract(SB).clearCofactor().is0();
  }
  const _size = Fp2.BYTES;
  const lengths = {
    secretKey: _size,
    publicKey: _size,
    signature: 2 * _size,
    seed: _size
  };
  function randomSecretKey(seed) {
    seed = seed === void 0 ? randomBytes4(lengths.seed) : seed;
    return abytes2(seed, lengths.seed, "seed");
  }
  function isValidSecretKey(key) {
    return isBytes2(key) && key.length === lengths.secretKey;
  }
  function isValidPublicKey(key, zip215) {
    try {
      return !!Point.fromBytes(key, zip215 === void 0 ? verifyOpts.zip215 : zip215);
    } catch (error) {
      return false;
    }
  }
  const utils = {
    getExtendedPublicKey,
    randomSecretKey,
    isValidSecretKey,
    isValidPublicKey,
    /** Converts an Edwards public key to a companion Montgomery public key. */
    toMontgomery(publicKey) {
      if (toMontgomery2 === void 0)
        throw new Error("Montgomery conversion is not supported for this curve");
      return toMontgomery2(Point.fromBytes(publicKey));
    },
    toMontgomerySecret(secretKey) {
      if (toMontgomerySecret2 === void 0)
        throw new Error("Montgomery conversion is not supported for this curve");
      return toMontgomerySecret2(secretKey);
    }
  };
  Object.freeze(lengths);
  Object.freeze(utils);
  return Object.freeze({
    keygen: createKeygen(randomSecretKey, getPublicKey),
    getPublicKey,
    sign,
    verify: verify2,
    utils,
    Point,
    lengths
  });
}
var _0n4, _1n4, _2n2, _4n3, _8n2;
var init_edwards = __esm({
  "node_modules/@noble/curves/abstract/edwards.js"() {
    init_utils2();
    init_curve();
    init_modular();
    _0n4 = /* @__PURE__ */ BigInt(0);
    _1n4 = /* @__PURE__ */ BigInt(1);
    _2n2 = /* @__PURE__ */ BigInt(2);
    _4n3 = /* @__PURE__ */ BigInt(4);
    _8n2 = /* @__PURE__ */ BigInt(8);
  }
});

// node_modules/@noble/curves/abstract/fft.js
function checkU32(n, title = "n") {
  if (typeof n !== "number")
    throw new TypeError(`wrong u32 integer "${title}": expected number, got type=${typeof n}`);
  if (!Number.isSafeInteger(n) || n < 0 || n > 4294967295)
    throw new RangeError(`wrong u32 integer "${title}": expected 0..4294967295, got ${n}`);
  return n;
}
function isPowerOfTwo(x) {
  checkU32(x, "x");
  return (x & x - 1) === 0 && x !== 0;
}
function reverseBits(n, bits) {
  checkU32(n);
  if (typeof bits !== "number")
    throw new TypeError('"bits" expected number, got type=' + typeof bits);
  if (!Number.isSafeInteger(bits) || bits < 0 || bits > 32)
    throw new Error(`expected integer 0 <= bits <= 32, got ${bits}`);
  let reversed = 0;
  for (let i = 0; i < bits; i++, n >>>= 1)
    reversed = reversed << 1 | n & 1;
  return reversed >>> 0;
}
function log2(n) {
  checkU32(n);
  return 31 - Math.clz32(n);
}
function bitReversalInplace(values) {
  if (!values || typeof values !== "object" || typeof values.length !== "number")
    throw new TypeError('"values" expected array-like, got type=' + typeof values);
  const n = values.length;
  if (!isPowerOfTwo(n))
    throw new Error("expected positive power-of-two length, got " + n);
  const bits = log2(n);
  for (let i = 0; i < n; i++) {
    const j = reverseBits(i, bits);
    if (i < j) {
      const tmp = values[i];
      values[i] = values[j];
      values[j] = tmp;
    }
  }
  return values;
}
var FFTCore;
var init_fft = __esm({
  "node_modules/@noble/curves/abstract/fft.js"() {
    init_utils2();
    FFTCore = (F2, coreOpts) => {
      validateObject(coreOpts, { N: "number", roots: "object", dit: "boolean" }, { invertButterflies: "boolean", skipStages: "number", brp: "boolean" }, "coreOpts");
      const { N: N2, roots, dit, invertButterflies = false, skipStages = 0, brp = true } = coreOpts;
      checkU32(N2, "coreOpts.N");
      const bits = log2(N2);
      if (!isPowerOfTwo(N2))
        throw new Error("FFT: Polynomial size should be power of two");
      checkU32(skipStages, "coreOpts.skipStages");
      const maxSkipStages = bits === 0 ? 0 : bits - 1;
      if (skipStages > maxSkipStages)
        throw new Error(`FFT: wrong skipStages: expected 0 <= skipStages <= ${maxSkipStages}`);
      if (roots.length !== N2)
        throw new Error(`FFT: wrong roots length: expected ${N2}, got ${roots.length}`);
      const isDit = dit !== invertButterflies;
      return (values) => {
        if (values.length !== N2)
          throw new Error("FFT: wrong Polynomial length");
        if (dit && brp)
          bitReversalInplace(values);
        for (let i = 0, g = 1; i < bits - skipStages; i++) {
          const s = dit ? i + 1 + skipStages : bits - i;
          const m = 1 << s;
          const m2 = m >> 1;
          const stride = N2 >> s;
          for (let k = 0; k < N2; k += m) {
            for (let j = 0, grp = g++; j < m2; j++) {
              const rootPos = invertButterflies ? dit ? N2 - grp : grp : j * stride;
              const i0 = k + j;
              const i1 = k + j + m2;
              const omega = roots[rootPos];
              const b = values[i1];
              const a = values[i0];
              if (isDit) {
                const t = F2.mul(b, omega);
                values[i0] = F2.add(a, t);
                values[i1] = F2.sub(a, t);
              } else if (invertButterflies) {
                values[i0] = F2.add(b, a);
                values[i1] = F2.mul(F2.sub(b, a), omega);
              } else {
                values[i0] = F2.add(a, b);
                values[i1] = F2.mul(F2.sub(a, b), omega);
              }
            }
          }
        }
        if (!dit && brp)
          bitReversalInplace(values);
        return values;
      };
    };
  }
});

// node_modules/@noble/curves/ed25519.js
function ed25519_pow_2_252_3(x) {
  const _10n = BigInt(10), _20n = BigInt(20), _40n = BigInt(40), _80n = BigInt(80);
  const P = ed25519_CURVE_p;
  const x2 = x * x % P;
  const b2 = x2 * x % P;
  const b4 = pow2(b2, _2n3, P) * b2 % P;
  const b5 = pow2(b4, _1n5, P) * x % P;
  const b10 = pow2(b5, _5n2, P) * b5 % P;
  const b20 = pow2(b10, _10n, P) * b10 % P;
  const b40 = pow2(b20, _20n, P) * b20 % P;
  const b80 = pow2(b40, _40n, P) * b40 % P;
  const b160 = pow2(b80, _80n, P) * b80 % P;
  const b240 = pow2(b160, _80n, P) * b80 % P;
  const b250 = pow2(b240, _10n, P) * b10 % P;
  const pow_p_5_8 = pow2(b250, _2n3, P) * x % P;
  return { pow_p_5_8, b2 };
}
function adjustScalarBytes(bytes) {
  bytes[0] &= 248;
  bytes[31] &= 127;
  bytes[31] |= 64;
  return bytes;
}
function uvRatio(u, v) {
  const P = ed25519_CURVE_p;
  const v3 = mod(v * v * v, P);
  const v7 = mod(v3 * v3 * v, P);
  const pow3 = ed25519_pow_2_252_3(u * v7).pow_p_5_8;
  let x = mod(u * v3 * pow3, P);
  const vx2 = mod(v * x * x, P);
  const root1 = x;
  const root2 = mod(x * ED25519_SQRT_M1, P);
  const useRoot1 = vx2 === u;
  const useRoot2 = vx2 === mod(-u, P);
  const noRoot = vx2 === mod(-u * ED25519_SQRT_M1, P);
  if (useRoot1)
    x = root1;
  if (useRoot2 || noRoot)
    x = root2;
  if (isNegativeLE(x, P))
    x = mod(-x, P);
  return { isValid: useRoot1 || useRoot2, value: x };
}
function toMontgomery(point) {
  const { y } = point;
  return Fp.toBytes(Fp.div(_1n5 + y, _1n5 - y));
}
function toMontgomerySecret(secretKey) {
  const size = ed25519_Point.Fp.BYTES;
  abytes(secretKey, size);
  return adjustScalarBytes(sha512(secretKey.subarray(0, size))).subarray(0, size);
}
function ed(opts) {
  return eddsa(ed25519_Point, sha512, Object.assign({ adjustScalarBytes, toMontgomery, toMontgomerySecret, zip215: true }, opts));
}
var _1n5, _2n3, _5n2, _8n3, ed25519_CURVE_p, ed25519_CURVE, ED25519_SQRT_M1, ed25519_Point, Fp, ed25519;
var init_ed25519 = __esm({
  "node_modules/@noble/curves/ed25519.js"() {
    init_sha2();
    init_utils();
    init_edwards();
    init_modular();
    _1n5 = /* @__PURE__ */ BigInt(1);
    _2n3 = /* @__PURE__ */ BigInt(2);
    _5n2 = /* @__PURE__ */ BigInt(5);
    _8n3 = /* @__PURE__ */ BigInt(8);
    ed25519_CURVE_p = /* @__PURE__ */ BigInt("0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");
    ed25519_CURVE = /* @__PURE__ */ (() => ({
      p: ed25519_CURVE_p,
      n: BigInt("0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"),
      h: _8n3,
      a: BigInt("0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec"),
      d: BigInt("0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"),
      Gx: BigInt("0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a"),
      Gy: BigInt("0x6666666666666666666666666666666666666666666666666666666666666658")
    }))();
    ED25519_SQRT_M1 = /* @__PURE__ */ BigInt("19681161376707505956807079304988542015446066515923890162744021073123829784752");
    ed25519_Point = /* @__PURE__ */ edwards(ed25519_CURVE, { uvRatio });
    Fp = /* @__PURE__ */ (() => ed25519_Point.Fp)();
    ed25519 = /* @__PURE__ */ ed({});
  }
});

// node_modules/@noble/hashes/hmac.js
var _HMAC, hmac;
var init_hmac = __esm({
  "node_modules/@noble/hashes/hmac.js"() {
    init_utils();
    _HMAC = class {
      oHash;
      iHash;
      blockLen;
      outputLen;
      canXOF = false;
      finished = false;
      destroyed = false;
      constructor(hash, key) {
        ahash(hash);
        abytes(key, void 0, "key");
        this.iHash = hash.create();
        if (typeof this.iHash.update !== "function")
          throw new Error("expected Hash instance");
        this.blockLen = this.iHash.blockLen;
        this.outputLen = this.iHash.outputLen;
        const blockLen = this.blockLen;
        const pad = new Uint8Array(blockLen);
        pad.set(key.length > blockLen ? hash.create().update(key).digest() : key);
        for (let i = 0; i < pad.length; i++)
          pad[i] ^= 54;
        this.iHash.update(pad);
        this.oHash = hash.create();
        for (let i = 0; i < pad.length; i++)
          pad[i] ^= 54 ^ 92;
        this.oHash.update(pad);
        clean(pad);
      }
      update(buf) {
        aexists(this);
        this.iHash.update(buf);
        return this;
      }
      digestInto(out) {
        aexists(this);
        aoutput(out, this);
        this.finished = true;
        const buf = out.subarray(0, this.outputLen);
        this.iHash.digestInto(buf);
        this.oHash.update(buf);
        this.oHash.digestInto(buf);
        this.destroy();
      }
      digest() {
        const out = new Uint8Array(this.oHash.outputLen);
        this.digestInto(out);
        return out;
      }
      _cloneInto(to) {
        to ||= Object.create(Object.getPrototypeOf(this), {});
        const { oHash, iHash, finished, destroyed, blockLen, outputLen, canXOF } = this;
        to = to;
        to.finished = finished;
        to.destroyed = destroyed;
        to.blockLen = blockLen;
        to.outputLen = outputLen;
        to.canXOF = canXOF;
        to.oHash = oHash._cloneInto(to.oHash);
        to.iHash = iHash._cloneInto(to.iHash);
        return to;
      }
      clone() {
        return this._cloneInto();
      }
      destroy() {
        this.destroyed = true;
        this.oHash.destroy();
        this.iHash.destroy();
      }
    };
    hmac = /* @__PURE__ */ (() => {
      const hmac_ = ((hash, key, message2) => new _HMAC(hash, key).update(message2).digest());
      hmac_.create = (hash, key) => new _HMAC(hash, key);
      return hmac_;
    })();
  }
});

// node_modules/@noble/curves/abstract/der.js
var _0n5, DERErr, _DER, DER;
var init_der = __esm({
  "node_modules/@noble/curves/abstract/der.js"() {
    init_utils2();
    _0n5 = /* @__PURE__ */ BigInt(0);
    DERErr = class extends Error {
      constructor(m = "") {
        super(m);
      }
    };
    _DER = {
      // asn.1 DER encoding utils
      Err: DERErr,
      // Basic building block is TLV (Tag-Length-Value)
      _tlv: {
        encode: (tag, data) => {
          const { Err: E } = _DER;
          asafenumber(tag, "tag");
          if (tag < 0 || tag > 255)
            throw new E("tlv.encode: wrong tag");
          astring(data, "data");
          if (data.length & 1)
            throw new E("tlv.encode: unpadded data");
          const dataLen = data.length / 2;
          const len = numberToHexUnpadded(dataLen);
          if (len.length / 2 & 128)
            throw new E("tlv.encode: long form length too big");
          const lenLen = dataLen > 127 ? numberToHexUnpadded(len.length / 2 | 128) : "";
          const t = numberToHexUnpadded(tag);
          return t + lenLen + len + data;
        },
        // v - value, l - left bytes (unparsed)
        decode(tag, data) {
          const { Err: E } = _DER;
          data = abytes2(data, void 0, "DER data");
          let pos = 0;
          if (tag < 0 || tag > 255)
            throw new E("tlv.decode: wrong tag");
          if (data.length < 2 || data[pos++] !== tag)
            throw new E("tlv.decode: wrong tlv");
          const first = data[pos++];
          const isLong = !!(first & 128);
          let length = 0;
          if (!isLong)
            length = first;
          else {
            const lenLen = first & 127;
            if (!lenLen)
              throw new E("tlv.decode(long): indefinite length not supported");
            if (lenLen > 4)
              throw new E("tlv.decode(long): byte length is too big");
            const lengthBytes = data.subarray(pos, pos + lenLen);
            if (lengthBytes.length !== lenLen)
              throw new E("tlv.decode: length bytes not complete");
            if (lengthBytes[0] === 0)
              throw new E("tlv.decode(long): zero leftmost byte");
            for (const b of lengthBytes)
              length = length << 8 | b;
            pos += lenLen;
            if (length < 128)
              throw new E("tlv.decode(long): not minimal encoding");
          }
          const v = data.subarray(pos, pos + length);
          if (v.length !== length)
            throw new E("tlv.decode: wrong value length");
          return { v, l: data.subarray(pos + length) };
        }
      },
      // https://crypto.stackexchange.com/a/57734 Leftmost bit of first byte is 'negative' flag,
      // since we always use positive integers here. It must always be empty:
      // - add zero byte if exists
      // - if next byte doesn't have a flag, leading zero is not allowed (minimal encoding)
      _int: {
        encode(num) {
          const { Err: E } = _DER;
          abignumber(num);
          if (num < _0n5)
            throw new E("integer: negative integers are not allowed");
          let hex = numberToHexUnpadded(num);
          if (Number.parseInt(hex[0], 16) & 8)
            hex = "00" + hex;
          if (hex.length & 1)
            throw new E("unexpected DER parsing assertion: unpadded hex");
          return hex;
        },
        decode(data) {
          const { Err: E } = _DER;
          if (data.length < 1)
            throw new E("invalid signature integer: empty");
          if (data[0] & 128)
            throw new E("invalid signature integer: negative");
          if (data.length > 1 && data[0] === 0 && !(data[1] & 128))
            throw new E("invalid signature integer: unnecessary leading zero");
          return bytesToNumberBE(data);
        }
      },
      toSig(bytes, maxScalarBytes) {
        const { Err: E, _int: int, _tlv: tlv } = _DER;
        if (maxScalarBytes !== void 0) {
          asafenumber(maxScalarBytes, "maxScalarBytes");
          if (maxScalarBytes < 1)
            throw new E("invalid signature: maxScalarBytes must be positive");
        }
        const data = abytes2(bytes, void 0, "signature");
        const { v: seqBytes, l: seqLeftBytes } = tlv.decode(48, data);
        if (seqLeftBytes.length)
          throw new E("invalid signature: left bytes after parsing");
        const { v: rBytes, l: rLeftBytes } = tlv.decode(2, seqBytes);
        const { v: sBytes, l: sLeftBytes } = tlv.decode(2, rLeftBytes);
        if (sLeftBytes.length)
          throw new E("invalid signature: left bytes after parsing");
        if (maxScalarBytes !== void 0 && (rBytes.length > maxScalarBytes || sBytes.length > maxScalarBytes))
          throw new E("invalid signature: integer too large");
        return { r: int.decode(rBytes), s: int.decode(sBytes) };
      },
      hexFromSig(sig) {
        const { _tlv: tlv, _int: int } = _DER;
        validateObject(sig, { r: "bigint", s: "bigint" }, {}, "sig");
        const rs = tlv.encode(2, int.encode(sig.r));
        const ss = tlv.encode(2, int.encode(sig.s));
        const seq = rs + ss;
        return tlv.encode(48, seq);
      }
    };
    DER = /* @__PURE__ */ (() => {
      Object.freeze(_DER._tlv);
      Object.freeze(_DER._int);
      return Object.freeze(_DER);
    })();
  }
});

// node_modules/@noble/curves/abstract/weierstrass.js
function _splitEndoScalar(k, basis, n) {
  aInRange("scalar", k, _0n6, n);
  const [[a1, b1], [a2, b2]] = basis;
  const c1 = divNearest(b2 * k, n);
  const c2 = divNearest(-b1 * k, n);
  let k1 = k - c1 * a1 - c2 * a2;
  let k2 = -c1 * b1 - c2 * b2;
  const k1neg = k1 < _0n6;
  const k2neg = k2 < _0n6;
  if (k1neg)
    k1 = -k1;
  if (k2neg)
    k2 = -k2;
  const MAX_NUM = bitMask(Math.ceil(bitLen(n) / 2)) + _1n6;
  if (k1 < _0n6 || k1 >= MAX_NUM || k2 < _0n6 || k2 >= MAX_NUM) {
    throw new Error("splitScalar (endomorphism): failed for k");
  }
  return { k1neg, k1, k2neg, k2 };
}
function validateSigFormat(format) {
  if (!["compact", "recovered", "der"].includes(format))
    throw new Error('Signature format must be "compact", "recovered", or "der"');
  return format;
}
function validateSigOpts(opts, def) {
  validateObject(opts);
  const optsn = {};
  for (let optName of Object.keys(def)) {
    optsn[optName] = opts[optName] === void 0 ? def[optName] : opts[optName];
  }
  abool2(optsn.lowS, "lowS");
  abool2(optsn.prehash, "prehash");
  if (optsn.format !== void 0)
    validateSigFormat(optsn.format);
  return optsn;
}
function weierstrass(params, extraOpts = {}) {
  const validated = createCurveFields("weierstrass", params, extraOpts);
  const Fp2 = validated.Fp;
  const Fn = validated.Fn;
  let CURVE = validated.CURVE;
  const { h: cofactor, n: CURVE_ORDER } = CURVE;
  validateObject(extraOpts, {}, {
    allowInfinityPoint: "boolean",
    clearCofactor: "function",
    isTorsionFree: "function",
    fromBytes: "function",
    toBytes: "function",
    endo: "object",
    randomBytes: "function"
  });
  const { endo: endoOpts, allowInfinityPoint, clearCofactor, isTorsionFree, fromBytes, toBytes } = extraOpts;
  const randomBytes4 = extraOpts.randomBytes === void 0 ? randomBytes2 : extraOpts.randomBytes;
  if (endoOpts) {
    if (!Fp2.is0(CURVE.a) || typeof endoOpts.beta !== "bigint" || !Array.isArray(endoOpts.basises)) {
      throw new Error('invalid endo: expected "beta": bigint and "basises": array');
    }
  }
  const endo = endoOpts ? {
    beta: endoOpts.beta,
    basises: endoOpts.basises.map((basis) => [...basis])
  } : void 0;
  const lengths = getWLengths(Fp2, Fn);
  function assertCompressionIsSupported() {
    if (!Fp2.isOdd)
      throw new Error("compression is not supported: Field does not have .isOdd()");
  }
  function pointToBytes(_c, point, isCompressed) {
    if (point.is0()) {
      if (!allowInfinityPoint)
        throw new Error("bad point: ZERO");
      return Uint8Array.of(0);
    }
    const { x, y } = point.toAffine();
    const bx = Fp2.toBytes(x);
    abool2(isCompressed, "isCompressed");
    if (isCompressed) {
      assertCompressionIsSupported();
      const hasEvenY = !Fp2.isOdd(y);
      return concatBytes3(pprefix(hasEvenY), bx);
    } else {
      return concatBytes3(Uint8Array.of(4), bx, Fp2.toBytes(y));
    }
  }
  function pointFromBytes(bytes) {
    abytes2(bytes, void 0, "Point");
    const { publicKey: comp, publicKeyUncompressed: uncomp } = lengths;
    const length = bytes.length;
    const head = bytes[0];
    const tail = bytes.subarray(1);
    if (allowInfinityPoint && length === 1 && head === 0)
      return { x: Fp2.ZERO, y: Fp2.ZERO };
    if (length === comp && (head === 2 || head === 3)) {
      const x = Fp2.fromBytes(tail);
      if (!Fp2.isValid(x))
        throw new Error("bad point: is not on curve, wrong x");
      const y2 = weierstrassEquation(x);
      let y;
      try {
        y = Fp2.sqrt(y2);
      } catch (sqrtError) {
        const err = sqrtError instanceof Error ? ": " + sqrtError.message : "";
        throw new Error("bad point: is not on curve, sqrt error" + err);
      }
      assertCompressionIsSupported();
      const evenY = Fp2.isOdd(y);
      const evenH = (head & 1) === 1;
      if (evenH !== evenY)
        y = Fp2.neg(y);
      return { x, y };
    } else if (length === uncomp && head === 4) {
      const L = Fp2.BYTES;
      const x = Fp2.fromBytes(tail.subarray(0, L));
      const y = Fp2.fromBytes(tail.subarray(L, L * 2));
      if (!isValidXY(x, y))
        throw new Error("bad point: is not on curve");
      return { x, y };
    } else {
      throw new Error(`bad point: got length ${length}, expected compressed=${comp} or uncompressed=${uncomp}`);
    }
  }
  const encodePoint = toBytes === void 0 ? pointToBytes : toBytes;
  const decodePoint = fromBytes === void 0 ? pointFromBytes : fromBytes;
  const b3 = Fp2.mul(CURVE.b, _3n2);
  const mulA = Fp2.is0(CURVE.a) ? (_) => Fp2.ZERO : (x) => Fp2.mul(CURVE.a, x);
  function weierstrassEquation(x) {
    const x2 = Fp2.sqr(x);
    const x3 = Fp2.mul(x2, x);
    return Fp2.add(Fp2.add(x3, Fp2.mul(x, CURVE.a)), CURVE.b);
  }
  function isValidXY(x, y) {
    const left = Fp2.sqr(y);
    const right = weierstrassEquation(x);
    return Fp2.eql(left, right);
  }
  if (!isValidXY(CURVE.Gx, CURVE.Gy))
    throw new Error("bad curve params: generator point");
  const _4a3 = Fp2.mul(Fp2.pow(CURVE.a, _3n2), _4n4);
  const _27b2 = Fp2.mul(Fp2.sqr(CURVE.b), BigInt(27));
  if (Fp2.is0(Fp2.add(_4a3, _27b2)))
    throw new Error("bad curve params: a or b");
  function acoord(title, n, banZero = false) {
    if (!Fp2.isValid(n) || banZero && Fp2.is0(n))
      throw new Error(`bad point coordinate ${title}`);
    return typeof n === "object" && n !== null ? Fp2.create(n) : n;
  }
  function aprjpoint(other) {
    if (!(other instanceof Point))
      throw new Error("Weierstrass Point expected");
  }
  function splitEndoScalarN(k) {
    if (!endo || !endo.basises)
      throw new Error("no endo");
    return _splitEndoScalar(k, endo.basises, Fn.ORDER);
  }
  function pushWnafPair(points, scalars, p, k) {
    if (!Fn.isValid(k))
      throw new RangeError("invalid scalar: out of range");
    if (endo) {
      const { k1neg, k1, k2neg, k2 } = splitEndoScalarN(k);
      const psi = new Point(Fp2.mul(p.X, endo.beta), p.Y, p.Z);
      points.push(k1neg ? p.negate() : p, k2neg ? psi.negate() : psi);
      scalars.push(k1, k2);
    } else {
      points.push(p);
      scalars.push(k);
    }
  }
  const validityCache = /* @__PURE__ */ new WeakSet();
  class Point {
    static BASE = new Point(CURVE.Gx, CURVE.Gy, Fp2.ONE);
    static ZERO = new Point(Fp2.ZERO, Fp2.ONE, Fp2.ZERO);
    static Fp = Fp2;
    static Fn = Fn;
    X;
    Y;
    Z;
    /** Does NOT validate if the point is valid. Use `.assertValidity()`. */
    constructor(X, Y, Z) {
      this.X = acoord("x", X);
      this.Y = acoord("y", Y, true);
      this.Z = acoord("z", Z);
      Object.freeze(this);
    }
    static CURVE() {
      return CURVE;
    }
    /** Does NOT validate if the point is valid. Use `.assertValidity()`. */
    static fromAffine(p) {
      const { x, y } = p || {};
      if (!p || !Fp2.isValid(x) || !Fp2.isValid(y))
        throw new Error("invalid affine point");
      if (p instanceof Point)
        throw new Error("projective point not allowed");
      if (Fp2.is0(x) && Fp2.is0(y))
        return Point.ZERO;
      return new Point(x, y, Fp2.ONE);
    }
    static fromBytes(bytes) {
      const P = Point.fromAffine(decodePoint(abytes2(bytes, void 0, "point")));
      P.assertValidity();
      return P;
    }
    static fromHex(hex) {
      return Point.fromBytes(hexToBytes2(hex));
    }
    get x() {
      return this.toAffine().x;
    }
    get y() {
      return this.toAffine().y;
    }
    /**
     * @param isLazy - true will defer table computation until the first multiplication
     */
    precompute(windowSize = 6, isLazy = true) {
      wnaf.setWindowSize(this, windowSize);
      if (!isLazy)
        this.multiply(_3n2);
      return this;
    }
    // TODO: return `this`
    /** A point on curve is valid if it conforms to equation. */
    assertValidity() {
      const p = this;
      if (p.is0()) {
        if (allowInfinityPoint && Fp2.is0(p.X) && Fp2.eql(p.Y, Fp2.ONE) && Fp2.is0(p.Z))
          return;
        throw new Error("bad point: ZERO");
      }
      if (validityCache.has(p))
        return;
      const { x, y } = p.toAffine();
      if (!Fp2.isValid(x) || !Fp2.isValid(y))
        throw new Error("bad point: x or y not field elements");
      if (!isValidXY(x, y))
        throw new Error("bad point: equation left != right");
      if (!p.isTorsionFree())
        throw new Error("bad point: not in prime-order subgroup");
      validityCache.add(p);
    }
    hasEvenY() {
      const { y } = this.toAffine();
      if (!Fp2.isOdd)
        throw new Error("Field doesn't support isOdd");
      return !Fp2.isOdd(y);
    }
    /** Compare one point to another. */
    equals(other) {
      aprjpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      const U1 = Fp2.eql(Fp2.mul(X1, Z2), Fp2.mul(X2, Z1));
      const U2 = Fp2.eql(Fp2.mul(Y1, Z2), Fp2.mul(Y2, Z1));
      return U1 && U2;
    }
    /** Flips point to one corresponding to (x, -y) in Affine coordinates. */
    negate() {
      return new Point(this.X, Fp2.neg(this.Y), this.Z);
    }
    // Renes-Costello-Batina exception-free doubling formula.
    // There is 30% faster Jacobian formula, but it is not complete.
    // https://eprint.iacr.org/2015/1060, algorithm 3
    // Cost: 8M + 3S + 3*a + 2*b3 + 15add.
    double() {
      const { X: X1, Y: Y1, Z: Z1 } = this;
      let X3 = Fp2.ZERO, Y3 = Fp2.ZERO, Z3 = Fp2.ZERO;
      let t0 = Fp2.mul(X1, X1);
      let t1 = Fp2.mul(Y1, Y1);
      let t2 = Fp2.mul(Z1, Z1);
      let t3 = Fp2.mul(X1, Y1);
      t3 = Fp2.add(t3, t3);
      Z3 = Fp2.mul(X1, Z1);
      Z3 = Fp2.add(Z3, Z3);
      X3 = mulA(Z3);
      Y3 = Fp2.mul(b3, t2);
      Y3 = Fp2.add(X3, Y3);
      X3 = Fp2.sub(t1, Y3);
      Y3 = Fp2.add(t1, Y3);
      Y3 = Fp2.mul(X3, Y3);
      X3 = Fp2.mul(t3, X3);
      Z3 = Fp2.mul(b3, Z3);
      t2 = mulA(t2);
      t3 = Fp2.sub(t0, t2);
      t3 = mulA(t3);
      t3 = Fp2.add(t3, Z3);
      Z3 = Fp2.add(t0, t0);
      t0 = Fp2.add(Z3, t0);
      t0 = Fp2.add(t0, t2);
      t0 = Fp2.mul(t0, t3);
      Y3 = Fp2.add(Y3, t0);
      t2 = Fp2.mul(Y1, Z1);
      t2 = Fp2.add(t2, t2);
      t0 = Fp2.mul(t2, t3);
      X3 = Fp2.sub(X3, t0);
      Z3 = Fp2.mul(t2, t1);
      Z3 = Fp2.add(Z3, Z3);
      Z3 = Fp2.add(Z3, Z3);
      return new Point(X3, Y3, Z3);
    }
    // Renes-Costello-Batina exception-free addition formula.
    // There is 30% faster Jacobian formula, but it is not complete.
    // https://eprint.iacr.org/2015/1060, algorithm 1
    // Cost: 12M + 0S + 3*a + 3*b3 + 23add.
    add(other) {
      aprjpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      let X3 = Fp2.ZERO, Y3 = Fp2.ZERO, Z3 = Fp2.ZERO;
      let t0 = Fp2.mul(X1, X2);
      let t1 = Fp2.mul(Y1, Y2);
      let t2 = Fp2.mul(Z1, Z2);
      let t3 = Fp2.add(X1, Y1);
      let t4 = Fp2.add(X2, Y2);
      t3 = Fp2.mul(t3, t4);
      t4 = Fp2.add(t0, t1);
      t3 = Fp2.sub(t3, t4);
      t4 = Fp2.add(X1, Z1);
      let t5 = Fp2.add(X2, Z2);
      t4 = Fp2.mul(t4, t5);
      t5 = Fp2.add(t0, t2);
      t4 = Fp2.sub(t4, t5);
      t5 = Fp2.add(Y1, Z1);
      X3 = Fp2.add(Y2, Z2);
      t5 = Fp2.mul(t5, X3);
      X3 = Fp2.add(t1, t2);
      t5 = Fp2.sub(t5, X3);
      Z3 = mulA(t4);
      X3 = Fp2.mul(b3, t2);
      Z3 = Fp2.add(X3, Z3);
      X3 = Fp2.sub(t1, Z3);
      Z3 = Fp2.add(t1, Z3);
      Y3 = Fp2.mul(X3, Z3);
      t1 = Fp2.add(t0, t0);
      t1 = Fp2.add(t1, t0);
      t2 = mulA(t2);
      t4 = Fp2.mul(b3, t4);
      t1 = Fp2.add(t1, t2);
      t2 = Fp2.sub(t0, t2);
      t2 = mulA(t2);
      t4 = Fp2.add(t4, t2);
      t0 = Fp2.mul(t1, t4);
      Y3 = Fp2.add(Y3, t0);
      t0 = Fp2.mul(t5, t4);
      X3 = Fp2.mul(t3, X3);
      X3 = Fp2.sub(X3, t0);
      t0 = Fp2.mul(t3, t1);
      Z3 = Fp2.mul(t5, Z3);
      Z3 = Fp2.add(Z3, t0);
      return new Point(X3, Y3, Z3);
    }
    subtract(other) {
      aprjpoint(other);
      return this.add(other.negate());
    }
    is0() {
      return this.equals(Point.ZERO);
    }
    /**
     * Constant time multiplication.
     * Uses precomputed tables (signed fixed-window wNAF) when available.
     * Uses scalar blinding and avoids endomorphism splitting in the secret-scalar path.
     * @param scalar - by which the point would be multiplied
     * @returns New point
     */
    multiply(scalar) {
      if (!Fn.isValidNot0(scalar))
        throw new RangeError("invalid scalar: out of range");
      const { p, f } = wnaf.mulSecret(this, scalar, cofactor, normalize);
      return normalize([p, f])[0];
    }
    /**
     * Non-constant-time multiplication. Uses width-4 wNAF with GLV endomorphism splitting
     * when available (two half-width scalars sharing one halved doubling chain).
     * It's faster, but should only be used when you don't care about
     * an exposed secret key e.g. sig verification, which works over *public* keys.
     */
    multiplyUnsafe(scalar) {
      const p = this;
      const sc = scalar;
      if (!Fn.isValid(sc))
        throw new RangeError("invalid scalar: out of range");
      if (sc === _0n6 || p.is0())
        return Point.ZERO;
      if (sc === _1n6)
        return p;
      if (wnaf.hasWindowSize(this))
        return wnaf.mulUnsafe(p, sc, normalize);
      const points = [];
      const scalars = [];
      pushWnafPair(points, scalars, p, sc);
      return mulAddUnsafe(Point, points, scalars);
    }
    /**
     * Non-constant-time double-scalar multiplication `a⋅this + b⋅other` (Strauss–Shamir).
     * Both walks share one doubling chain via {@link mulAddUnsafe}, and GLV endomorphism
     * (when available) halves the chain again by splitting each scalar into two half-width
     * parts. Used by ECDSA verification and public-key recovery for `R = u1⋅G + u2⋅P`.
     * Only for public scalars.
     */
    mulAddUnsafe(a, other, b) {
      aprjpoint(other);
      const points = [];
      const scalars = [];
      pushWnafPair(points, scalars, this, a);
      pushWnafPair(points, scalars, other, b);
      return mulAddUnsafe(Point, points, scalars);
    }
    /**
     * Converts Projective point to affine (x, y) coordinates.
     * (X, Y, Z) ∋ (x=X/Z, y=Y/Z).
     * @param invertedZ - Z^-1 (inverted zero) - optional, precomputation is useful for invertBatch
     */
    toAffine(invertedZ) {
      const p = this;
      let iz = invertedZ;
      if (iz != null && !Fp2.isValid(iz))
        throw new RangeError('"invertedZ" expected valid field element');
      const { X, Y, Z } = p;
      if (Fp2.eql(Z, Fp2.ONE))
        return { x: X, y: Y };
      const is0 = p.is0();
      if (iz == null)
        iz = is0 ? Fp2.ONE : Fp2.inv(Z);
      const x = Fp2.mul(X, iz);
      const y = Fp2.mul(Y, iz);
      const zz = Fp2.mul(Z, iz);
      if (is0)
        return { x: Fp2.ZERO, y: Fp2.ZERO };
      if (!Fp2.eql(zz, Fp2.ONE))
        throw new Error("invZ was invalid");
      return { x, y };
    }
    /**
     * Checks whether Point is free of torsion elements (is in prime subgroup).
     * Always torsion-free for cofactor=1 curves.
     */
    isTorsionFree() {
      if (cofactor === _1n6)
        return true;
      if (isTorsionFree)
        return isTorsionFree(Point, this);
      return wnaf.mulUnsafe(this, CURVE_ORDER).is0();
    }
    clearCofactor() {
      if (cofactor === _1n6)
        return this;
      if (clearCofactor)
        return clearCofactor(Point, this);
      return this.multiplyUnsafe(cofactor);
    }
    isSmallOrder() {
      if (cofactor === _1n6)
        return this.is0();
      return this.clearCofactor().is0();
    }
    toBytes(isCompressed = true) {
      abool2(isCompressed, "isCompressed");
      this.assertValidity();
      return encodePoint(Point, this, isCompressed);
    }
    toHex(isCompressed = true) {
      return bytesToHex2(this.toBytes(isCompressed));
    }
    toString() {
      return `<Point ${this.is0() ? "ZERO" : this.toHex()}>`;
    }
  }
  const normalize = (points) => normalizeZ(Point, points);
  const wnaf = new ScalarMultiplier(Point, randomBytes4);
  if (wnaf.bits >= 6)
    Point.BASE.precompute(6);
  Object.freeze(Point.prototype);
  Object.freeze(Point);
  return Point;
}
function pprefix(hasEvenY) {
  return Uint8Array.of(hasEvenY ? 2 : 3);
}
function getWLengths(Fp2, Fn) {
  return {
    secretKey: Fn.BYTES,
    publicKey: 1 + Fp2.BYTES,
    publicKeyUncompressed: 1 + 2 * Fp2.BYTES,
    publicKeyHasPrefix: true,
    // Raw compact `(r || s)` signature width; DER and recovered signatures use
    // different lengths outside this helper.
    signature: 2 * Fn.BYTES
  };
}
function ecdh(Point, ecdhOpts = {}) {
  validatePointCons(Point);
  const { Fn } = Point;
  const randomBytes_ = ecdhOpts.randomBytes === void 0 ? randomBytes2 : ecdhOpts.randomBytes;
  const lengths = Object.assign(getWLengths(Point.Fp, Fn), {
    seed: Math.max(getMinHashLength(Fn.ORDER), 16)
  });
  function isValidSecretKey(secretKey) {
    try {
      const num = Fn.fromBytes(secretKey);
      return Fn.isValidNot0(num);
    } catch (error) {
      return false;
    }
  }
  function isValidPublicKey(publicKey, isCompressed) {
    const { publicKey: comp, publicKeyUncompressed } = lengths;
    try {
      const l = publicKey.length;
      if (isCompressed === true && l !== comp)
        return false;
      if (isCompressed === false && l !== publicKeyUncompressed)
        return false;
      return !Point.fromBytes(publicKey).is0();
    } catch (error) {
      return false;
    }
  }
  function randomSecretKey(seed) {
    seed = seed === void 0 ? randomBytes_(lengths.seed) : seed;
    return mapHashToField(abytes2(seed, lengths.seed, "seed"), Fn.ORDER);
  }
  function getPublicKey(secretKey, isCompressed = true) {
    return Point.BASE.multiply(Fn.fromBytes(secretKey)).toBytes(isCompressed);
  }
  function isProbPub(item) {
    const { secretKey, publicKey, publicKeyUncompressed } = lengths;
    const allowedLengths = Fn._lengths;
    if (!isBytes2(item))
      return void 0;
    const l = abytes2(item, void 0, "key").length;
    const isPub = l === publicKey || l === publicKeyUncompressed;
    const isSec = l === secretKey || !!allowedLengths?.includes(l);
    if (isPub && isSec)
      return void 0;
    return isPub;
  }
  function getSharedSecret(secretKeyA, publicKeyB, isCompressed = true) {
    if (isProbPub(secretKeyA) === true)
      throw new Error("first arg must be private key");
    if (isProbPub(publicKeyB) === false)
      throw new Error("second arg must be public key");
    const s = Fn.fromBytes(secretKeyA);
    const b = Point.fromBytes(publicKeyB);
    if (b.is0())
      throw new Error("invalid public key: point at infinity");
    return b.multiply(s).toBytes(isCompressed);
  }
  const utils = {
    isValidSecretKey,
    isValidPublicKey,
    randomSecretKey
  };
  const keygen = createKeygen(randomSecretKey, getPublicKey);
  Object.freeze(utils);
  Object.freeze(lengths);
  return Object.freeze({ getPublicKey, getSharedSecret, keygen, Point, utils, lengths });
}
function ecdsa(Point, hash, ecdsaOpts = {}) {
  validatePointCons(Point);
  const hash_ = hash;
  ahash(hash_);
  validateObject(ecdsaOpts, {}, {
    hmac: "function",
    lowS: "boolean",
    randomBytes: "function",
    bits2int: "function",
    bits2int_modN: "function"
  });
  const opts = Object.assign({}, ecdsaOpts);
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const hmac2 = opts.hmac === void 0 ? (key, msg) => hmac(hash_, key, msg) : opts.hmac;
  const { Fp: Fp2, Fn } = Point;
  const { ORDER: CURVE_ORDER, BITS: fnBits } = Fn;
  const blindLength = getMinHashLength(CURVE_ORDER);
  const csprng = probeRandomBytes(randomBytes4, blindLength);
  const { keygen, getPublicKey, getSharedSecret, utils, lengths } = ecdh(Point, opts);
  const defaultSigOpts = {
    prehash: true,
    lowS: typeof opts.lowS === "boolean" ? opts.lowS : true,
    format: "compact",
    extraEntropy: false
  };
  const hasLargeRecoveryLifts = CURVE_ORDER * _2n4 + _1n6 < Fp2.ORDER;
  function isBiggerThanHalfOrder(number) {
    const HALF = CURVE_ORDER >> _1n6;
    return number > HALF;
  }
  function validateRS(title, num) {
    if (!Fn.isValidNot0(num))
      throw new Error(`invalid signature ${title}: out of range 1..Point.Fn.ORDER`);
    return num;
  }
  function assertFieldSignIsSupported() {
    if (!Fp2.isOdd)
      throw new Error("Field doesn't support isOdd");
  }
  function getRecoveryBit(x, y, r) {
    assertFieldSignIsSupported();
    return (x === r ? 0 : 2) | Number(Fp2.isOdd(y));
  }
  function assertRecoverableCurve() {
    if (hasLargeRecoveryLifts)
      throw new Error('"recovered" sig type is not supported for cofactor >2 curves');
  }
  function validateSigLength(bytes, format) {
    validateSigFormat(format);
    const size = lengths.signature;
    const sizer = format === "compact" ? size : format === "recovered" ? size + 1 : void 0;
    return abytes2(bytes, sizer);
  }
  class Signature {
    r;
    s;
    recovery;
    constructor(r, s, recovery) {
      this.r = validateRS("r", r);
      this.s = validateRS("s", s);
      if (recovery != null) {
        assertRecoverableCurve();
        if (![0, 1, 2, 3].includes(recovery))
          throw new Error("invalid recovery id");
        this.recovery = recovery;
      }
      Object.freeze(this);
    }
    static fromBytes(bytes, format = defaultSigOpts.format) {
      validateSigLength(bytes, format);
      let recid;
      if (format === "der") {
        if (bytes.length > 2 * Fn.BYTES + 16)
          throw new DER.Err("invalid signature: DER signature too long");
        const { r: r2, s: s2 } = DER.toSig(abytes2(bytes), Fn.BYTES + 1);
        return new Signature(r2, s2);
      }
      if (format === "recovered") {
        recid = bytes[0];
        format = "compact";
        bytes = bytes.subarray(1);
      }
      const L = lengths.signature / 2;
      const r = bytes.subarray(0, L);
      const s = bytes.subarray(L, L * 2);
      return new Signature(Fn.fromBytes(r), Fn.fromBytes(s), recid);
    }
    static fromHex(hex, format) {
      return this.fromBytes(hexToBytes2(hex), format);
    }
    assertRecovery() {
      const { recovery } = this;
      if (recovery == null)
        throw new Error("invalid recovery id: must be present");
      return recovery;
    }
    addRecoveryBit(recovery) {
      return new Signature(this.r, this.s, recovery);
    }
    // Unlike the top-level helper below, this method expects a digest that has
    // already been hashed to the curve's message representative.
    recoverPublicKey(messageHash) {
      const { r, s } = this;
      const recovery = this.assertRecovery();
      const radj = recovery === 2 || recovery === 3 ? r + CURVE_ORDER : r;
      if (!Fp2.isValid(radj))
        throw new Error("invalid recovery id: sig.r+curve.n != R.x");
      const x = Fp2.toBytes(radj);
      const R = Point.fromBytes(concatBytes3(pprefix((recovery & 1) === 0), x));
      const ir = Fn.inv(radj);
      const h = bits2int_modN(abytes2(messageHash, void 0, "msgHash"));
      const u1 = Fn.create(-h * ir);
      const u2 = Fn.create(s * ir);
      const Q2 = Point.BASE.mulAddUnsafe(u1, R, u2);
      if (Q2.is0())
        throw new Error("invalid recovery: point at infinify");
      Q2.assertValidity();
      return Q2;
    }
    // Signatures should be low-s, to prevent malleability.
    hasHighS() {
      return isBiggerThanHalfOrder(this.s);
    }
    toBytes(format = defaultSigOpts.format) {
      validateSigFormat(format);
      if (format === "der")
        return hexToBytes2(DER.hexFromSig(this));
      const { r, s } = this;
      const rb = Fn.toBytes(r);
      const sb = Fn.toBytes(s);
      if (format === "recovered") {
        assertRecoverableCurve();
        return concatBytes3(Uint8Array.of(this.assertRecovery()), rb, sb);
      }
      return concatBytes3(rb, sb);
    }
    toHex(format) {
      return bytesToHex2(this.toBytes(format));
    }
  }
  Object.freeze(Signature.prototype);
  Object.freeze(Signature);
  const bits2int = opts.bits2int === void 0 ? function bits2int_def(bytes) {
    if (bytes.length > 8192)
      throw new Error("input is too large");
    const num = bytesToNumberBE(bytes);
    const delta = bytes.length * 8 - fnBits;
    return delta > 0 ? num >> BigInt(delta) : num;
  } : opts.bits2int;
  const bits2int_modN = opts.bits2int_modN === void 0 ? function bits2int_modN_def(bytes) {
    return Fn.create(bits2int(bytes));
  } : opts.bits2int_modN;
  const ORDER_MASK = bitMask(fnBits);
  function int2octets(num) {
    aInRange("num < 2^" + fnBits, num, _0n6, ORDER_MASK);
    return Fn.toBytes(num);
  }
  function validateMsgAndHash(message2, prehash) {
    abytes2(message2, void 0, "message");
    return prehash ? abytes2(hash_(message2), void 0, "prehashed message") : message2;
  }
  function prepSig(message2, secretKey, opts2) {
    const { lowS, prehash, extraEntropy } = validateSigOpts(opts2, defaultSigOpts);
    message2 = validateMsgAndHash(message2, prehash);
    const h1int = bits2int_modN(message2);
    const d = Fn.fromBytes(secretKey);
    if (!Fn.isValidNot0(d))
      throw new Error("invalid private key");
    const seedArgs = [int2octets(d), int2octets(h1int)];
    if (extraEntropy != null && extraEntropy !== false) {
      const e = extraEntropy === true ? randomBytes4(lengths.secretKey) : extraEntropy;
      seedArgs.push(abytes2(e, void 0, "extraEntropy"));
    }
    const seed = concatBytes3(...seedArgs);
    const m = h1int;
    function k2sig(kBytes) {
      const k = bits2int(kBytes);
      if (!Fn.isValidNot0(k))
        return;
      const q = Point.BASE.multiply(k).toAffine();
      const r = Fn.create(q.x);
      if (r === _0n6)
        return;
      let s;
      if (csprng !== void 0) {
        const b = bytesToNumberBE(mapHashToField(csprng(blindLength), CURVE_ORDER));
        const ibk = Fn.inv(Fn.mul(b, k));
        const bm = Fn.mul(b, m);
        const bd = Fn.mul(b, d);
        s = Fn.create(ibk * Fn.create(bm + bd * r));
      } else {
        const ik = invertCt(k, CURVE_ORDER);
        s = Fn.create(ik * Fn.create(m + r * d));
      }
      if (s === _0n6)
        return;
      let recovery = getRecoveryBit(q.x, q.y, r);
      let normS = s;
      if (lowS && isBiggerThanHalfOrder(s)) {
        normS = Fn.neg(s);
        recovery ^= 1;
      }
      return new Signature(r, normS, hasLargeRecoveryLifts ? void 0 : recovery);
    }
    return { seed, k2sig };
  }
  function sign(message2, secretKey, opts2 = {}) {
    const { seed, k2sig } = prepSig(message2, secretKey, opts2);
    const drbg = createHmacDrbg(hash_.outputLen, Fn.BYTES, hmac2);
    const sig = drbg(seed, k2sig);
    return sig.toBytes(opts2.format);
  }
  function verify2(signature, message2, publicKey, opts2 = {}) {
    const { lowS, prehash, format } = validateSigOpts(opts2, defaultSigOpts);
    publicKey = abytes2(publicKey, void 0, "publicKey");
    message2 = validateMsgAndHash(message2, prehash);
    if (!isBytes2(signature)) {
      const end = signature instanceof Signature ? ", use sig.toBytes()" : "";
      throw new Error("verify expects Uint8Array signature" + end);
    }
    validateSigLength(signature, format);
    try {
      const sig = Signature.fromBytes(signature, format);
      const P = Point.fromBytes(publicKey);
      if (P.is0())
        return false;
      if (lowS && sig.hasHighS())
        return false;
      const { r, s } = sig;
      const h = bits2int_modN(message2);
      const is = Fn.inv(s);
      const u1 = Fn.create(h * is);
      const u2 = Fn.create(r * is);
      const R = Point.BASE.mulAddUnsafe(u1, P, u2);
      if (R.is0())
        return false;
      const q = R.toAffine();
      const v = Fn.create(q.x);
      if (v !== r)
        return false;
      if (format === "recovered" && sig.recovery !== getRecoveryBit(q.x, q.y, r))
        return false;
      return true;
    } catch (e) {
      return false;
    }
  }
  function recoverPublicKey(signature, message2, opts2 = {}) {
    const { prehash } = validateSigOpts(opts2, defaultSigOpts);
    message2 = validateMsgAndHash(message2, prehash);
    return Signature.fromBytes(signature, "recovered").recoverPublicKey(message2).toBytes();
  }
  return Object.freeze({
    keygen,
    getPublicKey,
    getSharedSecret,
    utils,
    lengths,
    Point,
    sign,
    verify: verify2,
    recoverPublicKey,
    Signature,
    hash: hash_
  });
}
var divNearest, _0n6, _1n6, _2n4, _3n2, _4n4;
var init_weierstrass = __esm({
  "node_modules/@noble/curves/abstract/weierstrass.js"() {
    init_hmac();
    init_utils();
    init_utils2();
    init_curve();
    init_der();
    init_modular();
    divNearest = (num, den) => (num + (num >= 0 ? den : -den) / _2n4) / den;
    _0n6 = /* @__PURE__ */ BigInt(0);
    _1n6 = /* @__PURE__ */ BigInt(1);
    _2n4 = /* @__PURE__ */ BigInt(2);
    _3n2 = /* @__PURE__ */ BigInt(3);
    _4n4 = /* @__PURE__ */ BigInt(4);
  }
});

// node_modules/@noble/curves/nist.js
var p256_CURVE, p256_Point, p256;
var init_nist = __esm({
  "node_modules/@noble/curves/nist.js"() {
    init_sha2();
    init_weierstrass();
    p256_CURVE = /* @__PURE__ */ (() => ({
      p: BigInt("0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
      n: BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
      h: BigInt(1),
      a: BigInt("0xffffffff00000001000000000000000000000000fffffffffffffffffffffffc"),
      b: BigInt("0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b"),
      Gx: BigInt("0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
      Gy: BigInt("0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    }))();
    p256_Point = /* @__PURE__ */ weierstrass(p256_CURVE);
    p256 = /* @__PURE__ */ ecdsa(p256_Point, sha256);
  }
});

// src/core/verifier/keys.ts
function readKeySet(keySet) {
  const keys = oneOfEach(
    entriesOf(keySet).flatMap((entry, i) => readKey(entry, `Key ${i + 1} of the key set`) ?? [])
  );
  if (keys.size === 0)
    throw new Unusable("The key set holds no Ed25519 or ML-DSA-65 key, so nothing can be verified by it.");
  return keys;
}
function combinedKeys(first, second) {
  return oneOfEach([...first.values(), ...second.values()]);
}
function oneOfEach(found) {
  const keys = /* @__PURE__ */ new Map();
  for (const key of found) {
    const same = keys.get(key.keyId);
    if (same !== void 0 && !isSameKey(same, key))
      throw new Unusable(`The key set holds two different keys named '${key.keyId}': one of them is false.`);
    keys.set(key.keyId, same === void 0 ? key : { ...key, revokedAt: earlier(same, key) });
  }
  refuseSharedKeys([...keys.values()]);
  return keys;
}
function isSameKey(one, other) {
  return one.fingerprint === other.fingerprint && passkeyText(one) === passkeyText(other);
}
function passkeyText({ passkey }) {
  return passkey === void 0 ? "" : canonicalize(passkey);
}
function refuseSharedKeys(keys) {
  const first = /* @__PURE__ */ new Map();
  for (const key of keys.filter(({ keyId }) => !keyId.endsWith(":step-up"))) {
    const other = first.get(key.fingerprint);
    if (other !== void 0 && ownerOf(other) !== ownerOf(key))
      throw new Unusable(
        `The key set holds one key under the names '${other.keyId}' and '${key.keyId}': one of them is false.`
      );
    first.set(key.fingerprint, key);
  }
}
function ownerOf({ keyId }) {
  return keyId.includes(":") ? keyId.slice(0, keyId.indexOf(":")) : "";
}
function entriesOf(keySet) {
  if (Array.isArray(keySet)) return keySet.flatMap(entriesOf);
  const { keys, ...key } = isMembers(keySet) ? keySet : {};
  if (Array.isArray(keys)) return keys;
  if (keys === void 0 && ["pem", "jwk", "kty"].some((member) => Object.hasOwn(key, member))) return [key];
  throw new Unusable(
    "The key set has no list `keys` and is no single key: save the answer of GET /.well-known/jwks.json or GET /keys/{keyId}."
  );
}
function earlier(one, other) {
  if (one.revokedAt === null || other.revokedAt === null) return one.revokedAt ?? other.revokedAt;
  return instantMs(one.revokedAt) <= instantMs(other.revokedAt) ? one.revokedAt : other.revokedAt;
}
function readKey(entry, which) {
  if (!isMembers(entry)) throw new Unusable(`${which} is not an object.`);
  const { pem, jwk } = entry;
  refusePrivate(entry, which);
  if (isMembers(jwk)) refuseDifference(entry, jwk, which);
  const jwks = [jwk, "kty" in entry ? entry : void 0].filter((one) => one !== void 0);
  if (pem === void 0 && jwks.length === 0)
    throw new Unusable(`${which} has neither a \`pem\`, a \`jwk\` nor a \`kty\`.`);
  const claimed = entry["algorithm"];
  const mayBeEs256 = "passkey" in entry || claimed === "es256";
  const found = [
    ...pem === void 0 ? [] : [ofPem(pem, mayBeEs256, which)],
    ...jwks.map((one) => ofJwk(one, mayBeEs256, which))
  ];
  const known = found.filter((one) => one !== void 0);
  const [material] = known;
  if (material === void 0) {
    if (KINDS.some(({ algorithm }) => algorithm === claimed))
      throw new Unusable(`${which} is called ${claimed} but holds a key of another kind.`);
    return void 0;
  }
  if (claimed !== void 0 && claimed !== material.algorithm)
    throw new Unusable(
      `${which} is called ${JSON.stringify(claimed)} but holds an ${material.algorithm} key.`
    );
  const keyId = nameOf3([entry, ...jwks.filter((one) => isMembers(one))], which);
  const fingerprint = fingerprintOf(material);
  if (known.length < found.length || known.some((one) => fingerprintOf(one) !== fingerprint))
    throw new Unusable(`${which} holds different keys in its \`pem\` and its \`jwk\`.`);
  const passkey = passkeyOf(entry, material, which);
  const point = pointOf(keyId, material, which);
  return { keyId, ...material, point, fingerprint, revokedAt: revokedAtOf(entry, which), passkey };
}
function passkeyOf(entry, { algorithm }, which) {
  if (!("passkey" in entry)) {
    if (algorithm === "es256")
      throw new Unusable(`${which} is an es256 key and no passkey: none is used here.`);
    return void 0;
  }
  if (algorithm === "ml-dsa-65") throw new Unusable(`${which} is an ml-dsa-65 key, and no passkey is one.`);
  try {
    return readPasskey(entry["passkey"]);
  } catch (error) {
    throw new Unusable(`${which} is no usable passkey: ${error.message}.`);
  }
}
function readEnrolledKey(keyId, enrolled, known) {
  const which = `The key '${keyId}'`;
  const material = ofPem(enrolled["publicKeyPem"] ?? null, "passkey" in enrolled, which);
  if (material === void 0 || material.algorithm === "ml-dsa-65")
    throw new Unusable(`${which} is no Ed25519 key.`);
  const fingerprint = fingerprintOf(material);
  const passkey = passkeyOf(enrolled, material, which);
  const key = { keyId, ...material, fingerprint, revokedAt: null, passkey };
  return { ...key, point: known?.fingerprint === fingerprint ? known.point : pointOf(keyId, material, which) };
}
function revokedAtOf({ revokedAt }, which) {
  if (revokedAt === void 0) return null;
  if (typeof revokedAt !== "string" || Number.isNaN(instantMs(revokedAt)))
    throw new Unusable(`${which} has a \`revokedAt\` that is no time.`);
  return revokedAt;
}
function nameOf3(parts, which) {
  const names2 = parts.flatMap((part) => [part["keyId"], part["kid"]]).filter((name2) => name2 !== void 0);
  const [name] = names2;
  if (typeof name !== "string" || name === "") throw new Unusable(`${which} has no \`keyId\` or \`kid\`.`);
  if (names2.some((other) => other !== name)) throw new Unusable(`${which} has two different names.`);
  if (parts.some(({ use }) => use !== void 0 && use !== "sig"))
    throw new Unusable(`${which} is not for signatures: its \`use\` is not 'sig'.`);
  return name;
}
function ofPem(pem, mayBeEs256, which) {
  const block = typeof pem === "string" ? PEM.exec(pem) : null;
  const der = base64(block?.[1]?.replaceAll(/\r?\n/g, "") ?? "");
  if (der === void 0 || der.length === 0)
    throw new Unusable(`${which} has a \`pem\` that is no public key.`);
  const kind = KINDS.find(({ spkiPrefix }) => spkiPrefix.every((byte, i) => der[i] === byte));
  if (kind?.algorithm === "es256" && !mayBeEs256) return void 0;
  return kind && materialOf(kind, der.subarray(kind.spkiPrefix.length), which);
}
function ofJwk(jwk, mayBeEs256, which) {
  if (!isMembers(jwk)) throw new Unusable(`${which} has a \`jwk\` that is not an object.`);
  const { kty, crv, alg, x, y, pub } = jwk;
  refusePrivate(jwk, which);
  if (kty === "OKP" && crv === "Ed25519") {
    if (alg !== void 0 && alg !== "EdDSA" && alg !== "Ed25519")
      throw new Unusable(`${which} is an Ed25519 key with an \`alg\` that is not Ed25519's.`);
    return materialOf(KINDS[0], bytesOf2(x, which), which);
  }
  if (kty === "AKP" && alg === "ML-DSA-65") return materialOf(KINDS[1], bytesOf2(pub, which), which);
  if (mayBeEs256 && kty === "EC" && crv === "P-256") {
    if (alg !== void 0 && alg !== "ES256")
      throw new Unusable(`${which} is a P-256 key with an \`alg\` that is not ES256.`);
    const coordinates = [bytesOf2(x, which), bytesOf2(y, which)];
    if (coordinates.some(({ length }) => length !== 32))
      throw new Unusable(`${which} has coordinates that do not have 32 bytes.`);
    return materialOf(KINDS[2], concatBytes2(...coordinates), which);
  }
  return void 0;
}
function refuseDifference(entry, jwk, which) {
  const different = JWK_MEMBERS.find(
    (member) => member in entry && member in jwk && (typeof jwk[member] !== "string" || entry[member] !== jwk[member])
  );
  if (different !== void 0)
    throw new Unusable(`${which} has another \`${different}\` beside its \`jwk\` than in it.`);
}
function refusePrivate(part, which) {
  if ("d" in part || "priv" in part)
    throw new Unusable(
      `${which} holds a private key: treat it as compromised, and save the public keys only.`
    );
}
function bytesOf2(text3, which) {
  const bytes = typeof text3 === "string" ? base64url(text3) : void 0;
  if (bytes === void 0) throw new Unusable(`${which} has key bytes that are not base64url.`);
  return bytes;
}
function materialOf(kind, bytes, which) {
  if (bytes.length !== kind.bytes)
    throw new Unusable(`${which} has ${bytes.length} bytes; an ${kind.algorithm} key has ${kind.bytes}.`);
  return { algorithm: kind.algorithm, bytes };
}
function pointOf(keyId, { algorithm, bytes }, which) {
  if (algorithm === "es256" && !p256.utils.isValidPublicKey(uncompressed(bytes), false))
    throw new Unusable(`${which} is not a point of P-256.`);
  if (algorithm !== "ed25519") return void 0;
  const point = ed25519Point(bytes);
  if (point === void 0 || point.is0() || !point.isTorsionFree())
    throw new Unusable(`${which} is a point that no private key has: some of those verify anything.`);
  return keyId.includes(":") ? point : point.precompute(TABLE_BITS);
}
function uncompressed(coordinates) {
  return concatBytes2(Uint8Array.of(4), coordinates);
}
function ed25519Point(bytes) {
  try {
    return ed25519.Point.fromBytes(bytes);
  } catch {
    return void 0;
  }
}
function fingerprintOf({ algorithm, bytes }) {
  const { spkiPrefix } = KINDS.find((kind) => kind.algorithm === algorithm) ?? KINDS[0];
  return bytesToHex(sha256(concatBytes2(spkiPrefix, bytes)));
}
function describedLogKey({ name, keyId, type, publicKey }) {
  const algorithm = type === "ml-dsa-44-cosignature" ? "ml-dsa-44" : "ed25519";
  const spkiPrefix = algorithm === "ed25519" ? KINDS[0].spkiPrefix : ML_DSA_44_SPKI_PREFIX;
  const fingerprint = bytesToHex(sha256(concatBytes2(spkiPrefix, publicKey)));
  return { keyId: `${name}+${keyId}`, algorithm, fingerprint };
}
var KINDS, NO_KEYS, PEM, JWK_MEMBERS, TABLE_BITS, ML_DSA_44_SPKI_PREFIX;
var init_keys = __esm({
  "src/core/verifier/keys.ts"() {
    "use strict";
    init_ed25519();
    init_nist();
    init_sha2();
    init_utils();
    init_canonical();
    init_assertion();
    init_base64();
    init_evidence();
    init_instant();
    init_unusable();
    KINDS = [
      { algorithm: "ed25519", spkiPrefix: hexToBytes("302a300506032b6570032100"), bytes: 32 },
      {
        algorithm: "ml-dsa-65",
        spkiPrefix: hexToBytes("308207b2300b0609608648016503040312038207a100"),
        bytes: 1952
      },
      // This key is for passkeys only: nothing else here signs by it.
      {
        algorithm: "es256",
        spkiPrefix: hexToBytes("3059301306072a8648ce3d020106082a8648ce3d03010703420004"),
        bytes: 64
      }
    ];
    NO_KEYS = /* @__PURE__ */ new Map();
    PEM = /^-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END PUBLIC KEY-----[ \t\r\n]*$/;
    JWK_MEMBERS = ["kty", "crv", "x", "y", "pub", "alg"];
    TABLE_BITS = 4;
    ML_DSA_44_SPKI_PREFIX = hexToBytes("30820532300b06096086480165030403110382052100");
  }
});

// node_modules/@noble/hashes/sha3.js
function keccakP(s, rounds = 24) {
  if (!(s instanceof Uint32Array))
    throw new TypeError('"s" expected Uint32Array(50), got type=' + typeof s);
  if (s.length !== 50)
    throw new RangeError('"s" expected Uint32Array(50), got length=' + s.length);
  anumber(rounds, "rounds");
  if (rounds < 1 || rounds > 24)
    throw new Error('"rounds" expected integer 1..24');
  for (let round = 24 - rounds; round < 24; round++) {
    for (let x = 0; x < 10; x++)
      B[x] = s[x] ^ s[x + 10] ^ s[x + 20] ^ s[x + 30] ^ s[x + 40];
    for (let x = 0; x < 10; x += 2) {
      const idx1 = (x + 8) % 10;
      const idx0 = (x + 2) % 10;
      const B0 = B[idx0];
      const B1 = B[idx0 + 1];
      const Th = rotlH(B0, B1, 1) ^ B[idx1];
      const Tl = rotlL(B0, B1, 1) ^ B[idx1 + 1];
      for (let y = 0; y < 50; y += 10) {
        s[x + y] ^= Th;
        s[x + y + 1] ^= Tl;
      }
    }
    let curH = s[2];
    let curL = s[3];
    for (let t = 0; t < 24; t++) {
      const shift = SHA3_ROTL[t];
      const Th = rotlH(curH, curL, shift);
      const Tl = rotlL(curH, curL, shift);
      const PI = SHA3_PI[t];
      curH = s[PI];
      curL = s[PI + 1];
      s[PI] = Th;
      s[PI + 1] = Tl;
    }
    for (let y = 0; y < 50; y += 10) {
      const b0 = s[y], b1 = s[y + 1], b2 = s[y + 2], b3 = s[y + 3];
      s[y] ^= ~s[y + 2] & s[y + 4];
      s[y + 1] ^= ~s[y + 3] & s[y + 5];
      s[y + 2] ^= ~s[y + 4] & s[y + 6];
      s[y + 3] ^= ~s[y + 5] & s[y + 7];
      s[y + 4] ^= ~s[y + 6] & s[y + 8];
      s[y + 5] ^= ~s[y + 7] & s[y + 9];
      s[y + 6] ^= ~s[y + 8] & b0;
      s[y + 7] ^= ~s[y + 9] & b1;
      s[y + 8] ^= ~b0 & b2;
      s[y + 9] ^= ~b1 & b3;
    }
    s[0] ^= SHA3_IOTA_H[round];
    s[1] ^= SHA3_IOTA_L[round];
  }
  clean(B);
}
var _0n7, _1n7, _2n5, _7n2, _256n, _0x71n, SHA3_PI, SHA3_ROTL, _SHA3_IOTA, IOTAS, SHA3_IOTA_H, SHA3_IOTA_L, rotlSH, rotlSL, rotlBH, rotlBL, rotlH, rotlL, B, Keccak, genShake, shake128, shake256;
var init_sha3 = __esm({
  "node_modules/@noble/hashes/sha3.js"() {
    init_u64();
    init_utils();
    _0n7 = BigInt(0);
    _1n7 = BigInt(1);
    _2n5 = BigInt(2);
    _7n2 = BigInt(7);
    _256n = BigInt(256);
    _0x71n = BigInt(113);
    SHA3_PI = [];
    SHA3_ROTL = [];
    _SHA3_IOTA = [];
    for (let round = 0, R = _1n7, x = 1, y = 0; round < 24; round++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      SHA3_PI.push(2 * (5 * y + x));
      SHA3_ROTL.push((round + 1) * (round + 2) / 2 % 64);
      let t = _0n7;
      for (let j = 0; j < 7; j++) {
        R = (R << _1n7 ^ (R >> _7n2) * _0x71n) % _256n;
        if (R & _2n5)
          t ^= _1n7 << (_1n7 << BigInt(j)) - _1n7;
      }
      _SHA3_IOTA.push(t);
    }
    IOTAS = split(_SHA3_IOTA, true);
    SHA3_IOTA_H = IOTAS[0];
    SHA3_IOTA_L = IOTAS[1];
    rotlSH = (h, l, s) => h << s | l >>> 32 - s;
    rotlSL = (h, l, s) => l << s | h >>> 32 - s;
    rotlBH = (h, l, s) => l << s - 32 | h >>> 64 - s;
    rotlBL = (h, l, s) => h << s - 32 | l >>> 64 - s;
    rotlH = (h, l, s) => s > 32 ? rotlBH(h, l, s) : rotlSH(h, l, s);
    rotlL = (h, l, s) => s > 32 ? rotlBL(h, l, s) : rotlSL(h, l, s);
    B = new Uint32Array(5 * 2);
    Keccak = class _Keccak {
      state;
      pos = 0;
      posOut = 0;
      finished = false;
      state32;
      destroyed = false;
      blockLen;
      suffix;
      outputLen;
      canXOF;
      enableXOF = false;
      rounds;
      // NOTE: we accept arguments in bytes instead of bits here.
      constructor(blockLen, suffix, outputLen, enableXOF = false, rounds = 24) {
        anumber(blockLen, "blockLen");
        anumber(suffix, "suffix");
        anumber(rounds, "rounds");
        abool(enableXOF, "enableXOF");
        this.blockLen = blockLen;
        this.suffix = suffix;
        this.outputLen = outputLen;
        this.enableXOF = enableXOF;
        this.canXOF = enableXOF;
        this.rounds = rounds;
        anumber(outputLen, "outputLen");
        if (!(0 < blockLen && blockLen < 200))
          throw new Error('"blockLen" must be 1..199');
        this.state = new Uint8Array(200);
        this.state32 = u32(this.state);
      }
      clone() {
        return this._cloneInto();
      }
      keccak() {
        swap32IfBE(this.state32);
        keccakP(this.state32, this.rounds);
        swap32IfBE(this.state32);
        this.posOut = 0;
        this.pos = 0;
      }
      update(data) {
        aexists(this);
        abytes(data);
        const { blockLen, state, state32 } = this;
        const len = data.length;
        const canUseU32 = blockLen % 4 === 0 && data.byteOffset % 4 === 0;
        const blockLen32 = blockLen / 4;
        const data32 = canUseU32 && len >= blockLen ? u32(data) : void 0;
        for (let pos = 0; pos < len; ) {
          if (data32 !== void 0 && this.pos === 0 && pos % 4 === 0 && len - pos >= blockLen) {
            for (let i = 0, o = pos / 4; i < blockLen32; i++)
              state32[i] ^= data32[o + i];
            pos += blockLen;
            this.pos = blockLen;
            this.keccak();
            continue;
          }
          const take = Math.min(blockLen - this.pos, len - pos);
          for (let i = 0; i < take; i++)
            state[this.pos++] ^= data[pos++];
          if (this.pos === blockLen)
            this.keccak();
        }
        return this;
      }
      finish() {
        if (this.finished)
          return;
        this.finished = true;
        const { state, suffix, pos, blockLen } = this;
        state[pos] ^= suffix;
        if ((suffix & 128) !== 0 && pos === blockLen - 1)
          this.keccak();
        state[blockLen - 1] ^= 128;
        this.keccak();
      }
      writeInto(out) {
        aexists(this, false);
        abytes(out);
        this.finish();
        const bufferOut = this.state;
        const { blockLen } = this;
        for (let pos = 0, len = out.length; pos < len; ) {
          if (this.posOut >= blockLen)
            this.keccak();
          const take = Math.min(blockLen - this.posOut, len - pos);
          out.set(bufferOut.subarray(this.posOut, this.posOut + take), pos);
          this.posOut += take;
          pos += take;
        }
        return out;
      }
      xofInto(out) {
        if (!this.enableXOF)
          throw new Error("XOF is not enabled");
        return this.writeInto(out);
      }
      xof(bytes) {
        anumber(bytes);
        return this.xofInto(new Uint8Array(bytes));
      }
      digestInto(out) {
        aoutput(out, this);
        if (this.finished)
          throw new Error("digest() was already called");
        this.writeInto(out.length === this.outputLen ? out : out.subarray(0, this.outputLen));
        this.destroy();
      }
      digest() {
        const out = new Uint8Array(this.outputLen);
        this.digestInto(out);
        return out;
      }
      destroy() {
        this.destroyed = true;
        clean(this.state);
      }
      _cloneInto(to) {
        const { blockLen, suffix, outputLen, rounds, enableXOF } = this;
        to ||= new _Keccak(blockLen, suffix, outputLen, enableXOF, rounds);
        to.blockLen = blockLen;
        to.state32.set(this.state32);
        to.pos = this.pos;
        to.posOut = this.posOut;
        to.finished = this.finished;
        to.rounds = rounds;
        to.suffix = suffix;
        to.outputLen = outputLen;
        to.enableXOF = enableXOF;
        to.canXOF = this.canXOF;
        to.destroyed = this.destroyed;
        return to;
      }
    };
    genShake = (suffix, blockLen, outputLen, info = {}) => createHasher((opts = {}) => {
      opts = checkOpts({}, opts);
      return new Keccak(blockLen, suffix, opts.dkLen === void 0 ? outputLen : opts.dkLen, true);
    }, info);
    shake128 = /* @__PURE__ */ genShake(31, 168, 16, /* @__PURE__ */ oidNist(11));
    shake256 = /* @__PURE__ */ genShake(31, 136, 32, /* @__PURE__ */ oidNist(12));
  }
});

// node_modules/@noble/post-quantum/utils.js
function aarray2(item, title, inner = () => {
}) {
  if (!Array.isArray(item))
    throw new TypeError(`"${title}" expected array, got type=${typeof item}`);
  for (let i = 0; i < item.length; i++)
    inner(item[i], `${title}[${i}]`);
  return item;
}
function aobject3(value, title = "object") {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(title === "object" ? "expected valid options object" : `"${title}" expected object, got type=${typeof value}`);
  return value;
}
function equalBytes2(a, b) {
  a = abytes(a);
  b = abytes(b);
  if (a.length !== b.length)
    return false;
  let diff = 0;
  for (let i = 0; i < a.length; i++)
    diff |= a[i] ^ b[i];
  return diff === 0;
}
function validateOpts(opts) {
  if (isBytes(opts))
    throw new TypeError('"opts" expected object, got Uint8Array');
  aobject3(opts, "opts");
  const proto = Object.getPrototypeOf(opts);
  if (proto !== null && proto !== Object.prototype)
    throw new TypeError('"opts" expected a plain object');
}
function checkOptKeys(opts, allowed) {
  validateOpts(opts);
  const normalized = Object.assign(/* @__PURE__ */ Object.create(null), opts);
  for (const [k, v] of Object.entries(normalized)) {
    if (v === void 0)
      continue;
    if (!allowed.includes(k))
      throw new TypeError('unexpected option "' + String(k) + '"; expected one of: ' + allowed.join(", "));
  }
  return Object.freeze(normalized);
}
function validateVerOpts(opts, allowed = VER_OPT_KEYS) {
  const normalized = checkOptKeys(opts, allowed);
  if (normalized.context !== void 0)
    abytes(normalized.context, void 0, "opts.context");
  return normalized;
}
function validateSigOpts2(opts, allowed = SIG_OPT_KEYS) {
  const normalized = checkOptKeys(opts, allowed);
  if (normalized.context !== void 0)
    abytes(normalized.context, void 0, "opts.context");
  if (normalized.extraEntropy !== false && normalized.extraEntropy !== void 0)
    abytes(normalized.extraEntropy, void 0, "opts.extraEntropy");
  return normalized;
}
function splitCoder(label, ...lengths) {
  const getLength = (c) => typeof c === "number" ? c : c.bytesLen;
  const bytesLen = lengths.reduce((sum, a) => sum + getLength(a), 0);
  return {
    bytesLen,
    encode: (bufs) => {
      const res = new Uint8Array(bytesLen);
      for (let i = 0, pos = 0; i < lengths.length; i++) {
        const c = lengths[i];
        const l = getLength(c);
        const b = typeof c === "number" ? bufs[i] : c.encode(bufs[i]);
        abytes(b, l, label);
        res.set(b, pos);
        if (typeof c !== "number")
          b.fill(0);
        pos += l;
      }
      return res;
    },
    decode: (buf) => {
      abytes(buf, bytesLen, label);
      const res = [];
      for (const c of lengths) {
        const l = getLength(c);
        const b = buf.subarray(0, l);
        res.push(typeof c === "number" ? b : c.decode(b));
        buf = buf.subarray(l);
      }
      return res;
    }
  };
}
function vecCoder(c, vecLen) {
  const coder = c;
  const bytesLen = vecLen * coder.bytesLen;
  return {
    bytesLen,
    encode: (u) => {
      const uArr = aarray2(u, "u");
      if (uArr.length !== vecLen)
        throw new RangeError(`vecCoder.encode: wrong length=${uArr.length}. Expected: ${vecLen}`);
      const res = new Uint8Array(bytesLen);
      for (let i = 0, pos = 0; i < uArr.length; i++) {
        const b = coder.encode(uArr[i]);
        res.set(b, pos);
        b.fill(0);
        pos += b.length;
      }
      return res;
    },
    decode: (a) => {
      abytes(a, bytesLen);
      const r = [];
      for (let i = 0; i < a.length; i += coder.bytesLen)
        r.push(coder.decode(a.subarray(i, i + coder.bytesLen)));
      return r;
    }
  };
}
function cleanBytes(...list2) {
  for (const t of list2) {
    if (Array.isArray(t))
      for (const b of t)
        b.fill(0);
    else
      t.fill(0);
  }
}
function getMask(bits) {
  anumber(bits, "bits");
  if (bits > 32)
    throw new RangeError('"bits" expected <= 32, got ' + bits);
  return bits === 32 ? 4294967295 : ~(-1 << bits) >>> 0;
}
function getMessage(msg, ctx = EMPTY) {
  abytes(msg, void 0, "msg");
  abytes(ctx, void 0, "ctx");
  if (ctx.length > 255)
    throw new RangeError("context should be 255 bytes or less");
  return concatBytes2(new Uint8Array([0, ctx.length]), ctx, msg);
}
function checkHash(hash, requiredStrength = 0) {
  if (typeof hash !== "function" || typeof hash.create !== "function")
    throw new TypeError('"hash" expected hash function, got type=' + typeof hash);
  ahash(hash);
  anumber(requiredStrength, "requiredStrength");
  const oid = hash.oid;
  abytes(oid, void 0, "hash.oid");
  if (!equalBytes2(oid.subarray(0, 10), oidNistP))
    throw new Error('"hash.oid" is invalid: expected NIST hash');
  const xofLen = XOF_OID_OUTPUT_LEN[bytesToHex(oid)];
  if (xofLen !== void 0 && hash.outputLen !== xofLen) {
    throw new Error("Pre-hash XOF output length must be " + xofLen + " bytes for this OID, got: " + hash.outputLen);
  }
  const collisionResistance = hash.outputLen * 8 / 2;
  if (requiredStrength > collisionResistance) {
    throw new Error("Pre-hash security strength too low: " + collisionResistance + ", required: " + requiredStrength);
  }
}
function getMessagePrehash(hash, msg, ctx = EMPTY) {
  checkHash(hash);
  abytes(msg, void 0, "msg");
  abytes(ctx, void 0, "ctx");
  if (ctx.length > 255)
    throw new RangeError("context should be 255 bytes or less");
  const hashed2 = hash(msg);
  return concatBytes2(new Uint8Array([1, ctx.length]), ctx, hash.oid, hashed2);
}
var abytesDoc, randomBytes3, VER_OPT_KEYS, SIG_OPT_KEYS, EMPTY, oidNistP, XOF_OID_OUTPUT_LEN;
var init_utils3 = __esm({
  "node_modules/@noble/post-quantum/utils.js"() {
    init_utils();
    abytesDoc = abytes;
    randomBytes3 = randomBytes;
    VER_OPT_KEYS = /* @__PURE__ */ Object.freeze([
      "context"
    ]);
    SIG_OPT_KEYS = /* @__PURE__ */ Object.freeze([
      "context",
      "extraEntropy"
    ]);
    EMPTY = /* @__PURE__ */ Uint8Array.of();
    oidNistP = /* @__PURE__ */ Uint8Array.from([6, 9, 96, 134, 72, 1, 101, 3, 4, 2]);
    XOF_OID_OUTPUT_LEN = /* @__PURE__ */ (() => ({
      "060960864801650304020b": 32,
      // id-shake128, SHAKE128(M, 256)
      "060960864801650304020c": 64
      // id-shake256, SHAKE256(M, 512)
    }))();
  }
});

// node_modules/@noble/post-quantum/_crystals.js
var genCrystals, createXofShake, XOF128, XOF256;
var init_crystals = __esm({
  "node_modules/@noble/post-quantum/_crystals.js"() {
    init_fft();
    init_sha3();
    init_utils3();
    genCrystals = (opts) => {
      const { newPoly: newPoly2, N: N2, Q: Q2, F: F2, ROOT_OF_UNITY: ROOT_OF_UNITY2, brvBits, isKyber } = opts;
      const mod2 = (a, modulo = Q2) => {
        const result = a % modulo | 0;
        return (result >= 0 ? result | 0 : modulo + result | 0) | 0;
      };
      const smod = (a, modulo = Q2) => {
        const r = mod2(a, modulo) | 0;
        return (r > modulo >> 1 ? r - modulo | 0 : r) | 0;
      };
      function getZettas() {
        const out = newPoly2(N2);
        for (let i = 0; i < N2; i++) {
          const b = reverseBits(i, brvBits);
          const p = BigInt(ROOT_OF_UNITY2) ** BigInt(b) % BigInt(Q2);
          out[i] = Number(p) | 0;
        }
        return out;
      }
      const nttZetas = getZettas();
      const inv = (_a) => {
        throw new Error("not implemented");
      };
      const field = isKyber ? {
        add: (a, b) => {
          const r = a + b | 0;
          return r >= Q2 ? r - Q2 | 0 : r;
        },
        sub: (a, b) => {
          const r = a - b | 0;
          return r < 0 ? r + Q2 | 0 : r;
        },
        mul: (a, b) => mod2((a | 0) * (b | 0)) | 0,
        inv
      } : {
        add: (a, b) => mod2((a | 0) + (b | 0)) | 0,
        sub: (a, b) => mod2((a | 0) - (b | 0)) | 0,
        mul: (a, b) => mod2((a | 0) * (b | 0)) | 0,
        inv
      };
      const nttOpts = {
        N: N2,
        roots: nttZetas,
        invertButterflies: true,
        skipStages: isKyber ? 1 : 0,
        brp: false
      };
      const dif = FFTCore(field, { dit: false, ...nttOpts });
      const dit = FFTCore(field, { dit: true, ...nttOpts });
      const NTT = {
        encode: (r) => {
          return dif(r);
        },
        decode: (r) => {
          dit(r);
          for (let i = 0; i < r.length; i++)
            r[i] = mod2(F2 * r[i]);
          return r;
        }
      };
      const bitsCoder = (d, c) => {
        for (let i = 0, bufLen = 0; i < N2; i++) {
          bufLen += d;
          if (bufLen > 32)
            getMask(bufLen);
          bufLen %= 8;
        }
        const mask = getMask(d);
        const bytesLen = d * (N2 / 8);
        return {
          bytesLen,
          encode: (poly_) => {
            const poly = poly_;
            const r = new Uint8Array(bytesLen);
            for (let i = 0, buf = 0, bufLen = 0, pos = 0; i < poly.length; i++) {
              buf |= (c.encode(poly[i]) & mask) << bufLen;
              bufLen += d;
              for (; bufLen >= 8; bufLen -= 8, buf >>= 8)
                r[pos++] = buf & 255;
            }
            return r;
          },
          decode: (bytes) => {
            const r = newPoly2(N2);
            for (let i = 0, buf = 0, bufLen = 0, pos = 0; i < bytes.length; i++) {
              buf |= bytes[i] << bufLen;
              bufLen += 8;
              for (; bufLen >= d; bufLen -= d, buf >>= d)
                r[pos++] = c.decode(buf & mask);
            }
            return r;
          }
        };
      };
      return {
        mod: mod2,
        smod,
        nttZetas,
        NTT: {
          encode: (r) => NTT.encode(r),
          decode: (r) => NTT.decode(r)
        },
        bitsCoder
      };
    };
    createXofShake = (shake) => (seed, blockLen) => {
      if (!blockLen)
        blockLen = shake.blockLen;
      const _seed = new Uint8Array(seed.length + 2);
      _seed.set(seed);
      const seedLen = seed.length;
      const buf = new Uint8Array(blockLen);
      let h = shake.create({});
      let calls = 0;
      let xofs = 0;
      return {
        stats: () => ({ calls, xofs }),
        get: (x, y) => {
          _seed[seedLen + 0] = x;
          _seed[seedLen + 1] = y;
          h.destroy();
          h = shake.create({}).update(_seed);
          calls++;
          return () => {
            xofs++;
            return h.xofInto(buf);
          };
        },
        clean: () => {
          h.destroy();
          cleanBytes(buf, _seed);
        }
      };
    };
    XOF128 = /* @__PURE__ */ createXofShake(shake128);
    XOF256 = /* @__PURE__ */ createXofShake(shake256);
  }
});

// node_modules/@noble/post-quantum/ml-dsa.js
function validateInternalOpts(opts, allowed) {
  const normalized = checkOptKeys(opts, allowed);
  if (normalized.externalMu !== void 0)
    abool2(normalized.externalMu, "opts.externalMu");
  return normalized;
}
function RejNTTPoly(xof_) {
  const xof = xof_;
  const r = newPoly(N);
  for (let j = 0; j < N; ) {
    const b = xof();
    if (b.length % 3)
      throw new Error("RejNTTPoly: unaligned block");
    for (let i = 0; j < N && i <= b.length - 3; i += 3) {
      const t = (b[i + 0] | b[i + 1] << 8 | b[i + 2] << 16) & 8388607;
      if (t < Q)
        r[j++] = t;
    }
  }
  return r;
}
function getDilithium(opts_) {
  const opts = opts_;
  const { K, L, GAMMA1, GAMMA2, TAU, ETA, OMEGA } = opts;
  const { CRH_BYTES, TR_BYTES, C_TILDE_BYTES, XOF128: XOF1282, XOF256: XOF2562, securityLevel } = opts;
  if (![2, 4].includes(ETA))
    throw new Error("Wrong ETA");
  if (![1 << 17, 1 << 19].includes(GAMMA1))
    throw new Error("Wrong GAMMA1");
  if (![GAMMA2_1, GAMMA2_2].includes(GAMMA2))
    throw new Error("Wrong GAMMA2");
  const BETA = TAU * ETA;
  const decompose = (r) => {
    const rPlus = crystals.mod(r);
    const r0 = crystals.smod(rPlus, 2 * GAMMA2) | 0;
    if (rPlus - r0 === Q - 1)
      return { r1: 0 | 0, r0: r0 - 1 | 0 };
    const r1 = Math.floor((rPlus - r0) / (2 * GAMMA2)) | 0;
    return { r1, r0 };
  };
  const HighBits = (r) => decompose(r).r1;
  const LowBits = (r) => decompose(r).r0;
  const MakeHint = (z, r) => {
    const res0 = z <= GAMMA2 || z > Q - GAMMA2 || z === Q - GAMMA2 && r === 0 ? 0 : 1;
    return res0;
  };
  const HINT_M = Math.floor((Q - 1) / (2 * GAMMA2));
  const UseHint = (h, r) => {
    const { r1, r0 } = decompose(r);
    if (h === 1)
      return r0 > 0 ? crystals.mod(r1 + 1, HINT_M) | 0 : crystals.mod(r1 - 1, HINT_M) | 0;
    return r1 | 0;
  };
  const Power2Round = (r) => {
    const rPlus = crystals.mod(r);
    const r0 = crystals.smod(rPlus, 2 ** D) | 0;
    return { r1: Math.floor((rPlus - r0) / 2 ** D) | 0, r0 };
  };
  const hintCoder = {
    bytesLen: OMEGA + K,
    encode: (h_) => {
      const h = h_;
      if (h === false)
        throw new Error("hint.encode: hint is false");
      const res = new Uint8Array(OMEGA + K);
      for (let i = 0, k = 0; i < K; i++) {
        for (let j = 0; j < N; j++)
          if (h[i][j] !== 0)
            res[k++] = j;
        res[OMEGA + i] = k;
      }
      return res;
    },
    decode: (buf) => {
      const h = [];
      let k = 0;
      for (let i = 0; i < K; i++) {
        const hi = newPoly(N);
        if (buf[OMEGA + i] < k || buf[OMEGA + i] > OMEGA)
          return false;
        for (let j = k; j < buf[OMEGA + i]; j++) {
          if (j > k && buf[j] <= buf[j - 1])
            return false;
          hi[buf[j]] = 1;
        }
        k = buf[OMEGA + i];
        h.push(hi);
      }
      for (let j = k; j < OMEGA; j++)
        if (buf[j] !== 0)
          return false;
      return h;
    }
  };
  const ETACoder = polyCoder(ETA === 2 ? 3 : 4, (i) => ETA - i, (i) => {
    if (!(-ETA <= i && i <= ETA))
      throw new Error(`malformed key s1/s3 ${i} outside of ETA range [${-ETA}, ${ETA}]`);
    return i;
  });
  const T0Coder = polyCoder(13, (i) => (1 << D - 1) - i);
  const T1Coder = polyCoder(10);
  const ZCoder = polyCoder(GAMMA1 === 1 << 17 ? 18 : 20, (i) => crystals.smod(GAMMA1 - i));
  const W1Coder = polyCoder(GAMMA2 === GAMMA2_1 ? 6 : 4);
  const W1Vec = vecCoder(W1Coder, K);
  const publicCoder = splitCoder("publicKey", 32, vecCoder(T1Coder, K));
  const secretCoder = splitCoder("secretKey", 32, 32, TR_BYTES, vecCoder(ETACoder, L), vecCoder(ETACoder, K), vecCoder(T0Coder, K));
  const sigCoder = splitCoder("signature", C_TILDE_BYTES, vecCoder(ZCoder, L), hintCoder);
  const CoefFromHalfByte = ETA === 2 ? (n) => n < 15 ? 2 - n % 5 : false : (n) => n < 9 ? 4 - n : false;
  function RejBoundedPoly(xof_) {
    const xof = xof_;
    const r = newPoly(N);
    for (let j = 0; j < N; ) {
      const b = xof();
      for (let i = 0; j < N && i < b.length; i += 1) {
        const d1 = CoefFromHalfByte(b[i] & 15);
        const d2 = CoefFromHalfByte(b[i] >> 4 & 15);
        if (d1 !== false)
          r[j++] = d1;
        if (j < N && d2 !== false)
          r[j++] = d2;
      }
    }
    return r;
  }
  const SampleInBall = (seed) => {
    const pre = newPoly(N);
    const s = shake256.create({}).update(seed);
    const buf = new Uint8Array(shake256.blockLen);
    s.xofInto(buf);
    const masks = buf.slice(0, 8);
    for (let i = N - TAU, pos = 8, maskPos = 0, maskBit = 0; i < N; i++) {
      let b = i + 1;
      for (; b > i; ) {
        b = buf[pos++];
        if (pos < shake256.blockLen)
          continue;
        s.xofInto(buf);
        pos = 0;
      }
      pre[i] = pre[b];
      pre[b] = 1 - ((masks[maskPos] >> maskBit++ & 1) << 1);
      if (maskBit >= 8) {
        maskPos++;
        maskBit = 0;
      }
    }
    return pre;
  };
  const polyPowerRound = (p_) => {
    const p = p_;
    const res0 = newPoly(N);
    const res1 = newPoly(N);
    for (let i = 0; i < p.length; i++) {
      const { r0, r1 } = Power2Round(p[i]);
      res0[i] = r0;
      res1[i] = r1;
    }
    return { r0: res0, r1: res1 };
  };
  const polyUseHint = (u_, h_) => {
    const u = u_;
    const h = h_;
    for (let i = 0; i < N; i++)
      u[i] = UseHint(h[i], u[i]);
    return u;
  };
  const polyMakeHint = (a_, b_) => {
    const a = a_;
    const b = b_;
    const v = newPoly(N);
    let cnt = 0;
    for (let i = 0; i < N; i++) {
      const h = MakeHint(a[i], b[i]);
      v[i] = h;
      cnt += h;
    }
    return { v, cnt };
  };
  const signRandBytes = 32;
  const seedCoder = splitCoder("seed", 32, 64, 32);
  const internal = Object.freeze({
    info: Object.freeze({ type: "internal-ml-dsa" }),
    lengths: Object.freeze({
      secretKey: secretCoder.bytesLen,
      publicKey: publicCoder.bytesLen,
      seed: 32,
      signature: sigCoder.bytesLen,
      signRand: signRandBytes
    }),
    keygen: (seed) => {
      const seedDst = new Uint8Array(32 + 2);
      const randSeed = seed === void 0;
      if (randSeed)
        seed = randomBytes3(32);
      abytesDoc(seed, 32, "seed");
      seedDst.set(seed);
      if (randSeed)
        cleanBytes(seed);
      seedDst[32] = K;
      seedDst[33] = L;
      const [rho, rhoPrime, K_] = seedCoder.decode(shake256(seedDst, { dkLen: seedCoder.bytesLen }));
      const xofPrime = XOF2562(rhoPrime);
      const s1 = [];
      for (let i = 0; i < L; i++)
        s1.push(RejBoundedPoly(xofPrime.get(i & 255, i >> 8 & 255)));
      const s2 = [];
      for (let i = L; i < L + K; i++)
        s2.push(RejBoundedPoly(xofPrime.get(i & 255, i >> 8 & 255)));
      const s1Hat = s1.map((i) => crystals.NTT.encode(i.slice()));
      const t0 = [];
      const t1 = [];
      const xof = XOF1282(rho);
      const t = newPoly(N);
      for (let i = 0; i < K; i++) {
        cleanBytes(t);
        for (let j = 0; j < L; j++) {
          const aij = RejNTTPoly(xof.get(j, i));
          polyAdd(t, MultiplyNTTs(aij, s1Hat[j]));
        }
        crystals.NTT.decode(t);
        const { r0, r1 } = polyPowerRound(polyAdd(t, s2[i]));
        t0.push(r0);
        t1.push(r1);
      }
      const publicKey = publicCoder.encode([rho, t1]);
      const tr = shake256(publicKey, { dkLen: TR_BYTES });
      const secretKey = secretCoder.encode([rho, K_, tr, s1, s2, t0]);
      xof.clean();
      xofPrime.clean();
      cleanBytes(rho, rhoPrime, K_, s1, s2, s1Hat, t, t0, t1, tr, seedDst);
      return {
        publicKey,
        secretKey
      };
    },
    getPublicKey: (secretKey) => {
      const [rho, _K, _tr, s1, s2, _t0] = secretCoder.decode(secretKey);
      const xof = XOF1282(rho);
      const s1Hat = s1.map((p) => crystals.NTT.encode(p.slice()));
      const t1 = [];
      const tmp = newPoly(N);
      for (let i = 0; i < K; i++) {
        tmp.fill(0);
        for (let j = 0; j < L; j++) {
          const aij = RejNTTPoly(xof.get(j, i));
          polyAdd(tmp, MultiplyNTTs(aij, s1Hat[j]));
        }
        crystals.NTT.decode(tmp);
        polyAdd(tmp, s2[i]);
        const { r1 } = polyPowerRound(tmp);
        t1.push(r1);
      }
      xof.clean();
      cleanBytes(tmp, s1Hat, _t0, s1, s2);
      return publicCoder.encode([rho, t1]);
    },
    // NOTE: random is optional.
    sign: (msg, secretKey, opts2 = {}) => {
      opts2 = validateSigOpts2(opts2, INTERNAL_SIG_OPT_KEYS);
      opts2 = validateInternalOpts(opts2, INTERNAL_SIG_OPT_KEYS);
      const { extraEntropy: random, externalMu = false } = opts2;
      if (externalMu)
        abytesDoc(msg, CRH_BYTES, "mu");
      const ownRnd = random === false || random === void 0;
      const rnd = random === false ? new Uint8Array(32) : random === void 0 ? randomBytes3(signRandBytes) : random;
      abytesDoc(rnd, 32, "extraEntropy");
      const decoded2 = (() => {
        try {
          return secretCoder.decode(secretKey);
        } catch (error) {
          if (ownRnd)
            cleanBytes(rnd);
          throw error;
        }
      })();
      const [rho, _K, tr, s1, s2, t0] = decoded2;
      const A = [];
      const xof = XOF1282(rho);
      for (let i = 0; i < K; i++) {
        const pv = [];
        for (let j = 0; j < L; j++)
          pv.push(RejNTTPoly(xof.get(j, i)));
        A.push(pv);
      }
      xof.clean();
      for (let i = 0; i < L; i++)
        crystals.NTT.encode(s1[i]);
      for (let i = 0; i < K; i++) {
        crystals.NTT.encode(s2[i]);
        crystals.NTT.encode(t0[i]);
      }
      const mu = externalMu ? msg : (
        // 6: µ ← H(tr||M, 512)
        //    ▷ Compute message representative µ
        shake256.create({ dkLen: CRH_BYTES }).update(tr).update(msg).digest()
      );
      const rhoprime = shake256.create({ dkLen: CRH_BYTES }).update(_K).update(rnd).update(mu).digest();
      if (ownRnd)
        cleanBytes(rnd);
      abytesDoc(rhoprime, CRH_BYTES);
      const x256 = XOF2562(rhoprime, ZCoder.bytesLen);
      main_loop: for (let kappa = 0; ; ) {
        const y = [];
        for (let i = 0; i < L; i++, kappa++)
          y.push(ZCoder.decode(x256.get(kappa & 255, kappa >> 8)()));
        const z = y.map((i) => crystals.NTT.encode(i.slice()));
        const w = [];
        for (let i = 0; i < K; i++) {
          const wi = newPoly(N);
          for (let j = 0; j < L; j++)
            polyAdd(wi, MultiplyNTTs(A[i][j], z[j]));
          crystals.NTT.decode(wi);
          w.push(wi);
        }
        const w1 = w.map((j) => j.map(HighBits));
        const cTilde = shake256.create({ dkLen: C_TILDE_BYTES }).update(mu).update(W1Vec.encode(w1)).digest();
        const cHat = crystals.NTT.encode(SampleInBall(cTilde));
        const cs1 = s1.map((i) => MultiplyNTTs(i, cHat));
        for (let i = 0; i < L; i++) {
          polyAdd(crystals.NTT.decode(cs1[i]), y[i]);
          if (polyChknorm(cs1[i], GAMMA1 - BETA)) {
            cleanBytes(cTilde, cs1, cHat, w1, w, z, y);
            continue main_loop;
          }
        }
        let cnt = 0;
        const h = [];
        for (let i = 0; i < K; i++) {
          const cs2 = crystals.NTT.decode(MultiplyNTTs(s2[i], cHat));
          const r0 = polySub(w[i], cs2).map(LowBits);
          if (polyChknorm(r0, GAMMA2 - BETA)) {
            cleanBytes(cTilde, cs1, cHat, w1, w, z, y, h, cs2, r0);
            continue main_loop;
          }
          const ct0 = crystals.NTT.decode(MultiplyNTTs(t0[i], cHat));
          if (polyChknorm(ct0, GAMMA2)) {
            cleanBytes(cTilde, cs1, cHat, w1, w, z, y, h, cs2, r0, ct0);
            continue main_loop;
          }
          polyAdd(r0, ct0);
          const hint = polyMakeHint(r0, w1[i]);
          h.push(hint.v);
          cnt += hint.cnt;
        }
        if (cnt > OMEGA) {
          cleanBytes(cTilde, cs1, cHat, w1, w, z, y, h);
          continue;
        }
        x256.clean();
        const res = sigCoder.encode([cTilde, cs1, h]);
        cleanBytes(cTilde, cs1, h, cHat, w1, w, z, y, rhoprime, s1, s2, t0, ...A);
        if (!externalMu)
          cleanBytes(mu);
        return res;
      }
      throw new Error("Unreachable code path reached, report this error");
    },
    verify: (sig, msg, publicKey, opts2 = {}) => {
      opts2 = validateInternalOpts(opts2, INTERNAL_VER_OPT_KEYS);
      const { externalMu = false } = opts2;
      if (externalMu)
        abytesDoc(msg, CRH_BYTES, "mu");
      const [rho, t1] = publicCoder.decode(publicKey);
      const tr = shake256(publicKey, { dkLen: TR_BYTES });
      if (sig.length !== sigCoder.bytesLen)
        return false;
      const [cTilde, z, h] = sigCoder.decode(sig);
      if (h === false)
        return false;
      for (let i = 0; i < L; i++)
        if (polyChknorm(z[i], GAMMA1 - BETA))
          return false;
      const mu = externalMu ? msg : (
        // 7: µ ← H(tr||M, 512)
        shake256.create({ dkLen: CRH_BYTES }).update(tr).update(msg).digest()
      );
      const c = crystals.NTT.encode(SampleInBall(cTilde));
      const zNtt = z.map((i) => i.slice());
      for (let i = 0; i < L; i++)
        crystals.NTT.encode(zNtt[i]);
      const wTick1 = [];
      const xof = XOF1282(rho);
      for (let i = 0; i < K; i++) {
        const ct12d = MultiplyNTTs(crystals.NTT.encode(polyShiftl(t1[i])), c);
        const Az = newPoly(N);
        for (let j = 0; j < L; j++) {
          const aij = RejNTTPoly(xof.get(j, i));
          polyAdd(Az, MultiplyNTTs(aij, zNtt[j]));
        }
        const wApprox = crystals.NTT.decode(polySub(Az, ct12d));
        wTick1.push(polyUseHint(wApprox, h[i]));
      }
      xof.clean();
      const c2 = shake256.create({ dkLen: C_TILDE_BYTES }).update(mu).update(W1Vec.encode(wTick1)).digest();
      for (const t of h) {
        const sum = t.reduce((acc, i) => acc + i, 0);
        if (!(sum <= OMEGA))
          return false;
      }
      for (const t of z)
        if (polyChknorm(t, GAMMA1 - BETA))
          return false;
      return equalBytes2(cTilde, c2);
    }
  });
  return Object.freeze({
    info: Object.freeze({ type: "ml-dsa" }),
    internal,
    securityLevel,
    keygen: internal.keygen,
    lengths: internal.lengths,
    getPublicKey: internal.getPublicKey,
    sign: (msg, secretKey, opts2 = {}) => {
      opts2 = validateSigOpts2(opts2);
      const M = getMessage(msg, opts2.context);
      const res = internal.sign(M, secretKey, {
        extraEntropy: opts2.extraEntropy,
        externalMu: false
      });
      cleanBytes(M);
      return res;
    },
    verify: (sig, msg, publicKey, opts2 = {}) => {
      opts2 = validateVerOpts(opts2);
      abytesDoc(sig, void 0, "signature");
      return internal.verify(sig, getMessage(msg, opts2.context), publicKey, { externalMu: false });
    },
    prehash: (hash) => {
      checkHash(hash, securityLevel);
      const rawHash = hash;
      return Object.freeze({
        info: Object.freeze({ type: "hashml-dsa" }),
        securityLevel,
        lengths: internal.lengths,
        keygen: internal.keygen,
        getPublicKey: internal.getPublicKey,
        sign: (msg, secretKey, opts2 = {}) => {
          opts2 = validateSigOpts2(opts2);
          const M = getMessagePrehash(rawHash, msg, opts2.context);
          const res = internal.sign(M, secretKey, {
            extraEntropy: opts2.extraEntropy,
            externalMu: false
          });
          cleanBytes(M);
          return res;
        },
        verify: (sig, msg, publicKey, opts2 = {}) => {
          opts2 = validateVerOpts(opts2);
          abytesDoc(sig, void 0, "signature");
          return internal.verify(sig, getMessagePrehash(rawHash, msg, opts2.context), publicKey, {
            externalMu: false
          });
        }
      });
    }
  });
}
var INTERNAL_SIG_OPT_KEYS, INTERNAL_VER_OPT_KEYS, N, Q, ROOT_OF_UNITY, F, D, GAMMA2_1, GAMMA2_2, PARAMS, newPoly, crystals, id, polyCoder, polyAdd, polySub, polyShiftl, polyChknorm, MultiplyNTTs, ml_dsa44, ml_dsa65;
var init_ml_dsa = __esm({
  "node_modules/@noble/post-quantum/ml-dsa.js"() {
    init_utils2();
    init_sha3();
    init_crystals();
    init_utils3();
    INTERNAL_SIG_OPT_KEYS = /* @__PURE__ */ Object.freeze([
      "extraEntropy",
      "externalMu"
    ]);
    INTERNAL_VER_OPT_KEYS = /* @__PURE__ */ Object.freeze(["externalMu"]);
    N = 256;
    Q = 8380417;
    ROOT_OF_UNITY = 1753;
    F = 8347681;
    D = 13;
    GAMMA2_1 = Math.floor((Q - 1) / 88) | 0;
    GAMMA2_2 = Math.floor((Q - 1) / 32) | 0;
    PARAMS = /* @__PURE__ */ (() => Object.freeze({
      2: Object.freeze({
        K: 4,
        L: 4,
        D,
        GAMMA1: 2 ** 17,
        GAMMA2: GAMMA2_1,
        TAU: 39,
        ETA: 2,
        OMEGA: 80
      }),
      3: Object.freeze({
        K: 6,
        L: 5,
        D,
        GAMMA1: 2 ** 19,
        GAMMA2: GAMMA2_2,
        TAU: 49,
        ETA: 4,
        OMEGA: 55
      }),
      5: Object.freeze({
        K: 8,
        L: 7,
        D,
        GAMMA1: 2 ** 19,
        GAMMA2: GAMMA2_2,
        TAU: 60,
        ETA: 2,
        OMEGA: 75
      })
    }))();
    newPoly = (n) => new Int32Array(n);
    crystals = /* @__PURE__ */ genCrystals({
      N,
      Q,
      F,
      ROOT_OF_UNITY,
      newPoly,
      isKyber: false,
      brvBits: 8
    });
    id = (n) => n;
    polyCoder = (d, compress = id, verify2 = id) => crystals.bitsCoder(d, {
      encode: (i) => compress(verify2(i)),
      decode: (i) => verify2(compress(i))
    });
    polyAdd = (a_, b_) => {
      const a = a_;
      const b = b_;
      for (let i = 0; i < a.length; i++)
        a[i] = crystals.mod(a[i] + b[i]);
      return a;
    };
    polySub = (a_, b_) => {
      const a = a_;
      const b = b_;
      for (let i = 0; i < a.length; i++)
        a[i] = crystals.mod(a[i] - b[i]);
      return a;
    };
    polyShiftl = (p_) => {
      const p = p_;
      for (let i = 0; i < N; i++)
        p[i] <<= D;
      return p;
    };
    polyChknorm = (p_, B2) => {
      const p = p_;
      for (let i = 0; i < N; i++)
        if (Math.abs(crystals.smod(p[i])) >= B2)
          return true;
      return false;
    };
    MultiplyNTTs = (a_, b_) => {
      const a = a_;
      const b = b_;
      const c = newPoly(N);
      for (let i = 0; i < a.length; i++)
        c[i] = crystals.mod(a[i] * b[i]);
      return c;
    };
    ml_dsa44 = /* @__PURE__ */ (() => getDilithium({
      ...PARAMS[2],
      CRH_BYTES: 64,
      TR_BYTES: 64,
      C_TILDE_BYTES: 32,
      XOF128,
      XOF256,
      securityLevel: 128
    }))();
    ml_dsa65 = /* @__PURE__ */ (() => getDilithium({
      ...PARAMS[3],
      CRH_BYTES: 64,
      TR_BYTES: 64,
      C_TILDE_BYTES: 48,
      XOF128,
      XOF256,
      securityLevel: 192
    }))();
  }
});

// src/core/verifier/pre-auth-encoding.ts
function preAuthEncoding(artifact, canonicalText2) {
  const type = utf8ToBytes(`application/vnd.countersign.${artifact}.v1+json`);
  const body = utf8ToBytes(canonicalText2);
  const ascii = utf8ToBytes;
  return concatBytes2(ascii(`DSSEv1 ${type.length} `), type, ascii(` ${body.length} `), body);
}
var init_pre_auth_encoding = __esm({
  "src/core/verifier/pre-auth-encoding.ts"() {
    "use strict";
    init_utils();
  }
});

// src/core/verifier/revoked.ts
function judgeRevoked(artifact, canonicalText2, { keyId, revokedAt }) {
  const signed2 = JSON.parse(canonicalText2);
  const members2 = isMembers(signed2) ? signed2 : {};
  const names2 = Object.hasOwn(TIMES, artifact) ? TIMES[artifact] : [];
  const name = names2.find((one) => one in members2) ?? names2[0] ?? "time";
  const at2 = members2[name];
  const revoked = `key ${JSON.stringify(keyId)} was revoked at ${revokedAt}`;
  const counts = typeof at2 === "string" && instantMs(at2) < instantMs(revokedAt);
  return {
    counts,
    sentence: counts ? `The ${revoked}: its signature of the ${artifact} counts by its ${name} ${at2}, which nothing but that key says.` : `${revoked}, and the ${name} of the ${artifact} is not before that`
  };
}
var TIMES;
var init_revoked = __esm({
  "src/core/verifier/revoked.ts"() {
    "use strict";
    init_evidence();
    init_instant();
    TIMES = {
      "trust-record": ["createdAt"],
      "execution-authorization": ["authorizedAt"],
      receipt: ["issuedAt"],
      "refusal-record": ["createdAt"],
      "audit-event": ["occurredAt"],
      "governance-change": ["resolvedAt", "proposedAt"],
      "intent-transition": ["at"],
      "provider-confirmation": ["receivedAt"],
      "approval-request": ["createdAt"],
      "approval-request-close": ["closedAt"]
    };
  }
});

// src/core/verifier/crypto.ts
function cryptoOf(keys, onUsed = () => void 0, ed25519By = verifiers.ed25519) {
  const by2 = { ...verifiers, ed25519: ed25519By };
  return {
    sha256Hex: (text3) => bytesToHex(sha256(utf8ToBytes(text3))),
    verifySignature: (artifact, canonicalText2, carried) => {
      const { keyId, value } = carried;
      if (keyId.includes(":") && isPasskeyAlgorithm(carried.algorithm))
        return isAsserted(artifact, canonicalText2, carried, { keys, onUsed, by: by2 });
      const algorithm = knownFamily(carried.algorithm);
      requireMayVerify(artifact, keyId);
      const signature = base64(value);
      if (signature === void 0) throw new Error("the signature is not canonical base64");
      const length = SIGNATURE_BYTES[algorithm];
      if (signature.length !== length)
        throw new Error(`the signature has ${signature.length} bytes; one of ${algorithm} has ${length}`);
      const message2 = signedMessage(artifact, preAuthEncoding(artifact, canonicalText2), carried, HASHING);
      const key = keys.get(keyId);
      if (key === void 0) return void 0;
      if (key.algorithm !== algorithm) throw new Error(`key '${keyId}' is not an ${algorithm} key`);
      if (key.passkey !== void 0) throw new Error(`key '${keyId}' is a passkey, and signs as one only`);
      const judged = judgedRevoked(artifact, canonicalText2, key);
      if (judged?.counts === false) throw new Error(judged.sentence);
      return isSignedBy(key, message2, signature, { onUsed, by: by2 });
    },
    noteOn(artifact, canonicalText2, keyId) {
      const judged = judgedRevoked(artifact, canonicalText2, keys.get(keyId));
      return judged?.counts === true ? judged.sentence : void 0;
    },
    humanKey: (keyId) => keyId.includes(":") ? keys.get(keyId) : void 0
  };
}
function judgedRevoked(artifact, canonicalText2, key) {
  const { keyId = "", revokedAt = null } = key ?? {};
  return revokedAt === null || keyId.includes(":") ? void 0 : judgeRevoked(artifact, canonicalText2, { keyId, revokedAt });
}
function requireMayVerify(artifact, keyId) {
  if (!mayVerify(artifact, keyId)) throw new Error(`key '${keyId}' is of no kind that signs as ${artifact}`);
}
function isAsserted(artifact, canonicalText2, { algorithm, keyId, value, webauthn }, { keys, ...checking }) {
  if (!isPasskeyAlgorithm(algorithm)) throw new Error(`the algorithm '${algorithm}' is not known`);
  requireMayVerify(artifact, keyId);
  const signature = base64(value);
  if (signature === void 0) throw new Error("the signature is not canonical base64");
  const kind = keyAlgorithmOf(algorithm);
  if (kind === "es256" && !isDer(signature)) throw new Error("the signature is not canonical DER");
  if (kind === "ed25519" && signature.length !== SIGNATURE_BYTES.ed25519)
    throw new Error(`the signature has ${signature.length} bytes; one of ed25519 has 64`);
  const key = keys.get(keyId);
  if (key !== void 0 && key.passkey === void 0) throw new Error(`key '${keyId}' is no passkey`);
  if (key !== void 0 && key.algorithm !== kind) throw new Error(`key '${keyId}' is not an ${kind} key`);
  const message2 = preAuthEncoding(artifact, canonicalText2);
  const asserted = assertedBytes(webauthn, { message: message2, passkey: key?.passkey, sha256 });
  return key && isSignedBy(key, asserted, signature, checking);
}
function isSignedBy(key, message2, signature, { onUsed, by: by2 }) {
  const { algorithm, bytes: publicKey, point } = key;
  const isSigned = by2[algorithm]({ message: message2, signature, publicKey, point });
  if (isSigned) onUsed(key);
  return isSigned;
}
function isDer(signature) {
  try {
    p256.Signature.fromBytes(signature, "der");
    return true;
  } catch {
    return false;
  }
}
function holds({ message: message2, signature, publicKey, point }) {
  const { Point } = ed25519;
  const encodedR = signature.subarray(0, 32);
  const S = bytesToNumberLE(signature.subarray(32));
  if (S >= Point.Fn.ORDER) return false;
  const [R, A] = [ed25519Point(encodedR), point ?? ed25519Point(publicKey)];
  if (R === void 0 || A === void 0 || R.isSmallOrder() || A.isSmallOrder()) return false;
  const k = bytesToNumberLE(sha512(concatBytes2(encodedR, publicKey, message2))) % Point.Fn.ORDER;
  return Point.BASE.multiplyUnsafe(S).subtract(A.multiplyUnsafe(k)).equals(R);
}
var HASHING, verifiers;
var init_crypto = __esm({
  "src/core/verifier/crypto.ts"() {
    "use strict";
    init_ed25519();
    init_nist();
    init_utils2();
    init_sha2();
    init_utils();
    init_ml_dsa();
    init_batch_head();
    init_assertion();
    init_base64();
    init_evidence();
    init_keys();
    init_pre_auth_encoding();
    init_revoked();
    init_signatures();
    HASHING = {
      sha256,
      fromBase64: base64,
      toBase64
    };
    verifiers = {
      ed25519: (signed2) => signed2.signature.length === SIGNATURE_BYTES.ed25519 && holds(signed2),
      // FIPS 204, pure, empty context.
      "ml-dsa-65": ({ message: message2, signature, publicKey }) => signature.length === SIGNATURE_BYTES["ml-dsa-65"] && ml_dsa65.verify(signature, message2, publicKey),
      // FIPS 186-5 §6.4.2, of SHA-256. Passkeys make an S above half the order every second time, which noble refuses unless it is told not to.
      es256: ({ message: message2, signature, publicKey }) => isDer(signature) && p256.verify(signature, message2, uncompressed(publicKey), { format: "der", lowS: false })
    };
  }
});

// src/core/verifier/note-crypto.ts
var noteCrypto;
var init_note_crypto = __esm({
  "src/core/verifier/note-crypto.ts"() {
    "use strict";
    init_sha2();
    init_ml_dsa();
    init_crypto();
    noteCrypto = {
      sha256,
      verifies: {
        ed25519: verifiers.ed25519,
        "ml-dsa-44": ({ message: message2, signature, publicKey }) => signature.length === 2420 && ml_dsa44.verify(signature, message2, publicKey)
      }
    };
  }
});

// src/core/verifier/provider-confirmation.ts
function checkProviderConfirmation(evidence, given) {
  const { confirmation, signature } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("confirmation signature", "The signature of the confirmation is not valid", given, {
      artifact: "provider-confirmation",
      text: isMembers(confirmation) ? canonicalText(confirmation) : void 0,
      signature
    }),
    check("confirmation", "The confirmation is not one that the service makes", () => isWhole2(confirmation))
  ];
}
function isWhole2(value) {
  const confirmation = members(value);
  return SAYS.some((known) => known === confirmation["says"]) && TEXTS.every((name) => string(confirmation[name]) !== "") && HASHES.every((name) => /^[0-9a-f]{64}$/.test(string(confirmation[name]))) && list(confirmation["comparisons"]).map(members).every(isComparison);
}
function isComparison({ expression, holds: holds2 }) {
  return string(expression) !== "" && typeof holds2 === "boolean";
}
function notesOnConfirmation(confirmation, status2) {
  if (!isMembers(confirmation)) return [];
  const { provider, says, comparisons } = confirmation;
  if (typeof provider !== "string" || typeof says !== "string") return [];
  const named2 = JSON.stringify(provider);
  const contradicts = status2 === "COMPLETED" && says === "not_executed" || status2 === "FAILED" && says === "executed";
  return [
    ...contradicts ? [`The provider ${named2} says ${says}, and the record says ${status2}.`] : [],
    ...itemsOf(comparisons).flatMap(
      (one) => isMembers(one) && one["holds"] === false && typeof one["expression"] === "string" ? [
        `A comparison of the confirmation by ${named2} does not hold: ${JSON.stringify(one["expression"])}.`
      ] : []
    )
  ];
}
var SAYS, TEXTS, HASHES;
var init_provider_confirmation = __esm({
  "src/core/verifier/provider-confirmation.ts"() {
    "use strict";
    init_evidence();
    init_signatures();
    SAYS = ["executed", "not_executed", "pending"];
    TEXTS = ["confirmationId", "businessTransactionId", "provider", "eventId", "ruleId", "receivedAt"];
    HASHES = ["deliveryHash", "rulesHash"];
  }
});

// src/core/verifier/receipt.ts
function checkReceipt(evidence, given) {
  const receipt = isMembers(evidence) ? evidence : {};
  const { signature, signatures: _, ...signedMembers2 } = receipt;
  const { receiptHash, ...hashedMembers } = signedMembers2;
  const hashed2 = canonicalText(hashedMembers);
  const signed2 = canonicalText(signedMembers2);
  return [
    check("receipt hash", "The receipt hash does not match the canonical receipt", () => {
      return hashed2 !== void 0 && given.sha256Hex(hashed2) === receiptHash;
    }),
    checkSigned("receipt signature", "The receipt signature is not valid", given, (crypto) => {
      if (signed2 === void 0) return false;
      const { algorithm, keyId } = receipt;
      const first = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature) };
      return requiredSignatures(receipt, first).every((one) => crypto.verifySignature("receipt", signed2, one));
    })
  ];
}
function notesOnReceipt(receipt, subject = "It") {
  const { transparency } = receipt;
  if (!isMembers(transparency)) return [];
  const { log, by: by2 } = transparency;
  if (typeof log !== "string" || typeof by2 !== "string" || Number.isNaN(instantMs(by2))) return [];
  return [
    `${subject} is promised to the log ${JSON.stringify(log)} by ${by2}; no proof of inclusion was given.`
  ];
}
var init_receipt = __esm({
  "src/core/verifier/receipt.ts"() {
    "use strict";
    init_evidence();
    init_instant();
    init_signatures();
  }
});

// src/core/verifier/trust-record.ts
function checkTrustRecord(evidence, given) {
  const record = isMembers(evidence) ? evidence : {};
  const signed2 = canonicalText(signedMembers(record));
  return [
    check("canonical hash", "The trust record hash does not match the canonical record", () => {
      return signed2 !== void 0 && given.sha256Hex(signed2) === record["trustRecordHash"];
    }),
    checkSigned("record signature", "The trust record signature is not valid", given, (crypto) => {
      if (signed2 === void 0) return false;
      const carried = requiredSignatures(record, carriedSignature(record["signature"]));
      return carried.every((one) => crypto.verifySignature("trust-record", signed2, one));
    }),
    checkSigned(
      "authorization signature",
      "The execution authorization signature is not valid",
      given,
      (crypto) => isAuthorizationSigned(members(record["authorization"]), crypto)
    ),
    check(
      "transaction binding",
      "The execution authorization is not bound to this transaction",
      () => boundToTransaction(record, given)
    ),
    check(
      "decision binding",
      "The execution authorization is not bound to this decision",
      () => boundToDecision(record)
    ),
    checkApprovals(record, given)
  ];
}
function signedMembers(record) {
  const names2 = [
    "authorization",
    "businessTransactionId",
    "createdAt",
    "executions",
    "overrides",
    ..."requiredAlgorithms" in record ? ["requiredAlgorithms"] : [],
    "transaction",
    "trustRecordId"
  ];
  return Object.fromEntries(names2.map((name) => [name, record[name]]));
}
function boundToTransaction(record, crypto) {
  const transaction = members(record["transaction"]);
  const payload = members(members(record["authorization"])["payload"]);
  const id2 = record["businessTransactionId"];
  const bound = actionText2(id2, members(transaction["intent"]));
  return transaction["businessTransactionId"] === id2 && payload["businessTransactionId"] === id2 && payload["businessTransactionHash"] === crypto.sha256Hex(bound) && payload["signalsHash"] === crypto.sha256Hex(canonicalize(transaction["signals"])) && string(payload["callerId"]) === members(transaction["metadata"])["submittedBy"] && list(record["executions"]).map(members).every((execution) => {
    const evidence = members(execution["evidence"]);
    return execution["businessTransactionId"] === id2 && actionText2(evidence["businessTransactionId"], evidence) === bound;
  });
}
function actionText2(businessTransactionId, { action, parameters, target }) {
  return canonicalize({ action, businessTransactionId, parameters, target });
}
function boundToDecision(record) {
  const payload = members(members(record["authorization"])["payload"]);
  const transaction = members(record["transaction"]);
  const executions = list(record["executions"]).map(members);
  return executions.length > 0 && executions.every((execution) => {
    const decision = members(execution["decision"]);
    const policy = members(decision["policy"]);
    return decision["outcome"] === "APPROVED" && string(decision["decisionId"]) === payload["decisionId"] && string(decision["policyContentHash"]) === payload["policyContentHash"] && string(policy["name"]) === payload["policyName"] && string(policy["version"]) === payload["policyVersion"] && string(decision["intentId"]) === members(transaction["intent"])["intentId"] && canonicalize(policy) === canonicalize(transaction["policy"]) && canonicalize(decision["signals"]) === canonicalize(transaction["signals"]) && string(members(execution["metadata"])["authorizationId"]) === payload["authorizationId"];
  });
}
var init_trust_record = __esm({
  "src/core/verifier/trust-record.ts"() {
    "use strict";
    init_canonical();
    init_approvals();
    init_evidence();
    init_signatures();
  }
});

// src/core/verifier/whole-record.ts
function checkWholeRecord(evidence, given) {
  const record = isMembers(evidence) ? evidence : {};
  return [
    ...checkTrustRecord(record, given),
    check("verifications", "A verification is not one of this record", () => {
      leftOut(record, "verifications");
      return list(record["verifications"]).map(members).every((verification) => isOf(record, verification) && isVerification(verification));
    }),
    checkSigned("receipts", "A receipt is not a valid one of this record", given, (crypto) => {
      leftOut(record, "receipts");
      return list(record["receipts"]).map(members).every((receipt) => isOf(record, receipt) && isReceipted(record, receipt, crypto));
    }),
    ...record["confirmations"] === void 0 && record["confirmationCount"] === void 0 ? [] : [
      checkSigned(
        "confirmations",
        "A confirmation is not a valid one of this record",
        given,
        (crypto) => {
          leftOut(record, "confirmations");
          return list(record["confirmations"]).map(members).every((one) => isConfirmed(record, one, crypto));
        }
      )
    ]
  ];
}
function isOf(record, appended) {
  return string(appended["businessTransactionId"]) === record["businessTransactionId"] && string(appended["trustRecordHash"]) === record["trustRecordHash"];
}
function isVerification({ verificationId, status: status2, message: message2, verifiedAt }) {
  return [verificationId, message2, verifiedAt].every((member) => typeof member === "string") && (status2 === "VERIFIED" || status2 === "FAILED");
}
function leftOut(record, name) {
  const held = list(record[name]).length;
  const { [COUNTED[name]]: count2 = held } = record;
  if (!Number.isSafeInteger(count2) || count2 < held)
    throw new Error(`${COUNTED[name]} is not the number of ${name}`);
  return count2 - held;
}
function isReceipted(record, receipt, crypto) {
  mustHold(checkReceipt(receipt, crypto));
  const verificationId = string(receipt["verificationId"]);
  const named2 = list(record["verifications"]).map(members).filter((one) => one["verificationId"] === verificationId);
  if (named2.length === 0) return leftOut(record, "verifications") > 0;
  return named2.some(({ status: status2 }) => status2 === "VERIFIED");
}
function isConfirmed(record, confirmation, crypto) {
  mustHold(checkProviderConfirmation(confirmation, crypto));
  const named2 = members(confirmation["confirmation"])["businessTransactionId"];
  return named2 === string(record["businessTransactionId"]);
}
function cutNote(record, name) {
  const [held, count2] = [record[name], record[COUNTED[name]]];
  return Array.isArray(held) && typeof count2 === "number" && count2 > held.length ? [`It holds ${held.length} of the ${count2} ${name} that it says the record has.`] : [];
}
function notesOnRecord(record, { promise }) {
  const { verifications, receipts } = record;
  const [latest, receipt] = [verifications, receipts].map((entries) => itemsOf(entries).at(-1));
  return [
    ...itemsOf(receipts).length > 0 ? [] : ["The record carries no receipt."],
    ...isMembers(latest) && latest["status"] === "FAILED" ? ["The latest verification that was stored with it is FAILED."] : [],
    ...itemsOf(verifications).some((one) => isMembers(one) && one["status"] === "FAILED") ? ["Nothing signs what a verification says that is FAILED."] : [],
    ...["verifications", "receipts", "confirmations"].flatMap((name) => cutNote(record, name)),
    ...promise && isMembers(receipt) ? notesOnReceipt(receipt, "Its latest receipt") : [],
    ...notesOnConfirmations(record),
    ...notesOnApprovals(
      itemsOf(record["executions"]).map((one) => isMembers(one) ? one["decision"] : void 0)
    )
  ];
}
function notesOnConfirmations({ confirmations, executions }) {
  const [execution] = itemsOf(executions);
  const status2 = isMembers(execution) ? execution["status"] : void 0;
  return itemsOf(confirmations).flatMap(
    (one) => isMembers(one) ? notesOnConfirmation(one["confirmation"], status2) : []
  );
}
var COUNTED;
var init_whole_record = __esm({
  "src/core/verifier/whole-record.ts"() {
    "use strict";
    init_evidence();
    init_approvals();
    init_provider_confirmation();
    init_receipt();
    init_trust_record();
    COUNTED = {
      verifications: "verificationCount",
      receipts: "receiptCount",
      confirmations: "confirmationCount"
    };
  }
});

// src/core/verifier/bundle.ts
function inspectBundle(bundle, { keys, log, cryptoBy, onLogKeyUsed }) {
  if (bundle["bundle"] !== VERSION)
    throw new Unusable(
      `The bundle is of version ${JSON.stringify(bundle["bundle"])}; only '${VERSION}' is known.`
    );
  const record = isMembers(bundle["record"]) ? bundle["record"] : {};
  const crypto = cryptoBy(keys);
  const execution = lazy(() => readExecution(record, crypto));
  const carried = lazy(() => carriedKeys(bundle["approverKeys"]));
  const changes = lazy(
    () => list(bundle["changes"]).map(
      (change) => readChange(members(change), execution(), { carried: readable(carried) ?? NO_KEYS, crypto })
    )
  );
  const changesCheck = checkSigned(
    "governance changes",
    "A governance change is not one that put the policy or the key of an approver into force",
    crypto,
    (checking) => {
      mustHold(list(bundle["changes"]).flatMap((change) => checkGovernanceChange(change, checking)));
      return areInForce(changes());
    }
  );
  let recordKeys = keys;
  const keysCheck = check("approver keys", "The keys of approvers are not those that were enrolled", () => {
    if (changesCheck.problem === void 0)
      recordKeys = combinedKeys(keys, enrolledKeys(changes(), carried()));
    return areEnrolled(execution(), changes(), carried());
  });
  const proofs = checkProofs(bundle["proofs"], () => dueProofs(execution(), changes()), {
    trust: log,
    crypto: noteCrypto,
    onUsed: onLogKeyUsed
  });
  return {
    checks: [
      ...checkWholeRecord(record, cryptoBy(recordKeys)),
      check("policy document", "The policy document is not the one whose hash is signed", () => {
        return crypto.sha256Hex(string(bundle["policy"])) === execution().policy.contentHash;
      }),
      changesCheck,
      keysCheck,
      ...proofs.checks
    ],
    notes: [
      ...notesOnRecord(record, { promise: false }),
      ...notesOnAuthority(bundle["changes"], { execution, changes, crypto }),
      ...proofs.notes
    ]
  };
}
function lazy(make) {
  let made;
  return () => {
    if (made === void 0) {
      try {
        const value = make();
        made = () => value;
      } catch (error) {
        made = () => {
          throw error;
        };
      }
    }
    return made();
  };
}
function readable(read) {
  try {
    return read();
  } catch {
    return void 0;
  }
}
function readChange(change, { policy, approvals }, { carried, crypto: { sha256Hex } }) {
  const { changeId, kind, target, status: status2, proposed } = change;
  const named2 = string(target);
  const text3 = canonicalize(signedMembersOf(change));
  const read = {
    part: {
      kind: "change",
      id: string(changeId),
      entry: artifactEntry.governanceChange(text3, sha256Hex)
    },
    target: named2
  };
  if (status2 !== "APPROVED") return read;
  if (kind === "policy") {
    const { retires: _, ...document } = members(proposed);
    const isThis = named2 === `${policy.name}/${policy.version}` && sha256Hex(canonicalize(document)) === policy.contentHash;
    return isThis ? { ...read, policy: true } : read;
  }
  const enrolled = isMembers(proposed) ? proposed : {};
  const { action, approverId, keyId } = enrolled;
  const isOfApprover = kind === "approver" && action === "add" && named2 === `${string(approverId)}:${string(keyId)}` && approvals.some((approval) => approval.keyId === named2);
  if (!isOfApprover) return read;
  return { ...read, enrolled: readEnrolledKey(named2, enrolled, carried.get(named2)) };
}
function areInForce(changes) {
  for (const [i, { part, target, policy, enrolled }] of changes.entries()) {
    const which = `change ${JSON.stringify(part.id)}`;
    if (policy === void 0 && enrolled === void 0)
      throw new Error(`${which} put nothing into force that was used here`);
    if (changes.findIndex((other) => other.target === target) < i)
      throw new Error(`${which} is the second one of ${JSON.stringify(target)}`);
  }
  return true;
}
function carriedKeys(given) {
  const keys = list(given);
  return keys.length === 0 ? NO_KEYS : readKeySet(keys);
}
function enrolledKeys(changes, carried) {
  return new Map(
    changes.flatMap(
      ({ target, enrolled }) => enrolled === void 0 ? [] : [[target, { ...enrolled, revokedAt: carried.get(target)?.revokedAt ?? null }]]
    )
  );
}
function areEnrolled({ approvals }, changes, carried) {
  const used = new Set(approvals.map(({ keyId }) => keyId));
  for (const keyId of used) {
    const named2 = JSON.stringify(keyId);
    const enrolled = changes.find((change) => change.target === keyId)?.enrolled;
    const key = carried.get(keyId);
    if (enrolled === void 0) throw new Error(`no governance change in it enrolled the key ${named2}`);
    if (key === void 0) throw new Error(`the key ${named2} is not among them`);
    if (!isSameKey(key, enrolled)) throw new Error(`the key ${named2} is another one than was enrolled`);
  }
  for (const keyId of carried.keys())
    if (!used.has(keyId)) throw new Error(`nothing is approved by the key ${JSON.stringify(keyId)}`);
  return true;
}
function dueProofs({ authorization, requests, approvals, receipt, confirmations }, changes) {
  const order = changes.flatMap(
    ({ part, target, policy }) => policy === true ? [[part, authorization]] : approvals.filter(({ keyId }) => keyId === target).map((approval) => [part, approval.part])
  );
  for (const request of requests) {
    const ofRequest2 = approvals.filter(({ requestHash: requestHash2 }) => requestHash2 === request.entry.hash);
    order.push(...ofRequest2.map(({ part }) => [request, part]));
    order.push([request, authorization]);
  }
  for (const approval of approvals) order.push([approval.part, authorization]);
  if (receipt !== void 0) order.push([authorization, receipt.part]);
  for (const confirmation of confirmations) order.push([authorization, confirmation]);
  return {
    parts: [
      ...changes.map(({ part }) => part),
      ...requests,
      ...approvals.map(({ part }) => part),
      authorization,
      ...receipt === void 0 ? [] : [receipt.part],
      ...confirmations
    ],
    order,
    promises: new Map(receipt?.log === void 0 ? [] : [[receipt.part, receipt.log]])
  };
}
function notesOnAuthority(given, of) {
  const read = readable(() => ({ execution: of.execution(), changes: of.changes() }));
  if (read === void 0) return [];
  const { policy, receipt } = read.execution;
  const named2 = `${JSON.stringify(policy.name)} version ${JSON.stringify(policy.version)}`;
  const ofChanges = list(given).flatMap((change) => notesOnChange(members(change), of.crypto));
  return [
    ...receipt === void 0 ? ["No entry of the log states the record: only a receipt does."] : [],
    ...read.changes.some((change) => change.policy === true) ? [] : [
      `It holds no governance change that put policy ${named2} into force: the operator of the service did when it was first started, or the change was left out.`
    ],
    ...new Set(ofChanges)
  ];
}
var VERSION;
var init_bundle = __esm({
  "src/core/verifier/bundle.ts"() {
    "use strict";
    init_canonical();
    init_artifacts();
    init_bundle_execution();
    init_bundle_log();
    init_evidence();
    init_governance_change();
    init_keys();
    init_note_crypto();
    init_unusable();
    init_whole_record();
    VERSION = "countersign/1";
  }
});

// src/core/intents/states.ts
function mayFollow(from, to) {
  const state = intentStates.find((known) => known === from);
  return state !== void 0 && FOLLOWING[state].some((next) => next === to);
}
var intentStates, FOLLOWING;
var init_states = __esm({
  "src/core/intents/states.ts"() {
    "use strict";
    intentStates = ["PREPARED", "RELEASED", "FINALIZED", "ERRORED", "RESOLVED"];
    FOLLOWING = {
      PREPARED: ["RELEASED", "ERRORED"],
      RELEASED: ["FINALIZED", "ERRORED", "RESOLVED"],
      FINALIZED: [],
      ERRORED: [],
      RESOLVED: []
    };
  }
});

// src/core/verifier/intent-transition.ts
function checkIntentTransition(evidence, given) {
  const { transition, signature } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("transition signature", "The signature of the transition is not valid", given, {
      artifact: "intent-transition",
      text: isMembers(transition) ? canonicalText(transition) : void 0,
      signature
    }),
    check("transition", "The transition is not one that an intent can make", () => isLegal(transition))
  ];
}
function isLegal(value) {
  const { from, to, by: by2, resolution, trustRecordHash, confirmationId, agreedWith } = members(value);
  if (!mayFollow(from, to) || string(by2) === "") return false;
  const isClosed = (resolution === "EXECUTED" || resolution === "NOT_EXECUTED") && by2 !== "service";
  const isProven = typeof trustRecordHash === "string" && /^[0-9a-f]{64}$/.test(trustRecordHash);
  const isConfirmed2 = confirmationId === void 0 || to === "RESOLVED" && string(by2).startsWith("webhook:") && string(confirmationId) !== "";
  const isAgreed = agreedWith === void 0 || to === "RESOLVED" && string(agreedWith) !== "" && agreedWith !== by2;
  return isConfirmed2 && isAgreed && (to === "RESOLVED" ? isClosed : resolution === void 0) && (to === "FINALIZED" ? isProven : trustRecordHash === void 0 || to === "ERRORED" && isProven);
}
var init_intent_transition = __esm({
  "src/core/verifier/intent-transition.ts"() {
    "use strict";
    init_states();
    init_evidence();
    init_signatures();
  }
});

// src/core/approval-requests/statuses.ts
var approvalRequestStatuses;
var init_statuses = __esm({
  "src/core/approval-requests/statuses.ts"() {
    "use strict";
    approvalRequestStatuses = [
      "PENDING",
      "APPROVED",
      "DECLINED",
      "EXPIRED",
      "ENDED",
      "USED",
      "WITHDRAWN"
    ];
  }
});

// src/core/verifier/known-members.ts
function pageList(page) {
  return PAGE_LISTS.find((name) => Array.isArray(page[name]));
}
function checkMembers(kind, evidence) {
  const unknown = [...unknownIn(evidence, OF_KIND[kind])].toSorted();
  if (unknown.length === 0) return { name: "members", problem: void 0 };
  return { name: "members", problem: `It cannot be checked: ${sentenceOn(unknown)}`, unknownMembers: unknown };
}
function problemOfPage(page, list2) {
  const unknown = [...unknownIn(page, closed({ ...PAGE, [list2]: checked }))].toSorted();
  return unknown.length === 0 ? void 0 : `This is a page of ${list2}: ${sentenceOn(unknown)}`;
}
function sentenceOn(unknown) {
  const named2 = unknown.slice(0, NAMED_MAX).map((path) => JSON.stringify(path));
  const more = unknown.length > NAMED_MAX ? ` and ${unknown.length - NAMED_MAX} more` : "";
  return `no signature covers ${named2.join(", ")}${more}, and this verifier does not know what is there. It was added, or takes a newer verifier.`;
}
function* unknownIn(value, { known, othersSigned }, prefix = "") {
  for (const [name, member] of Object.entries(value)) {
    const [shape, path] = [Object.hasOwn(known, name) ? known[name] : void 0, prefix + name];
    if (shape === void 0) {
      if (!othersSigned) yield path;
    } else if (typeof shape === "function") {
      if (!shape(member, value)) yield path;
    } else if ("known" in shape) {
      if (isMembers(member)) yield* unknownIn(member, shape, `${path}.`);
    } else {
      for (const [i, one] of itemsOf(member).entries())
        if (isMembers(one)) yield* unknownIn(one, shape[0], `${path}.${i}.`);
    }
  }
}
var checked, advice, text, cursorOrNull, count, time, VERIFIED_MESSAGE, message, status, listOf, objectOf, texts, closed, signed, all, SIGNATURE, VERIFICATION, RECEIPT, CONFIRMATION, RECORD, CHANGE, CLOSE, REQUEST, JWK, KEY, OF_KIND, PAGE, PAGE_LISTS, NAMED_MAX;
var init_known_members = __esm({
  "src/core/verifier/known-members.ts"() {
    "use strict";
    init_statuses();
    init_evidence();
    init_instant();
    checked = () => true;
    advice = () => true;
    text = (value) => typeof value === "string";
    cursorOrNull = (value) => value === null || typeof value === "string" && /^[\w-]{1,200}$/.test(value);
    count = (value) => typeof value === "number";
    time = (value) => typeof value === "string" && !Number.isNaN(instantMs(value));
    VERIFIED_MESSAGE = "Execution Trust Record verified successfully.";
    message = (value, { status: status2 }) => status2 !== "VERIFIED" || value === VERIFIED_MESSAGE;
    status = (value) => typeof value !== "string" || approvalRequestStatuses.includes(value);
    listOf = (shape) => (value) => Array.isArray(value) && value.every((one) => isMembers(one) && unknownIn(one, shape).next().done === true);
    objectOf = (shape) => (value) => isMembers(value) && Object.keys(shape.known).every((name) => Object.hasOwn(value, name)) && unknownIn(value, shape).next().done === true;
    texts = (value) => Array.isArray(value) && value.every(text);
    closed = (known) => ({ known, othersSigned: false });
    signed = (known) => ({ known, othersSigned: true });
    all = (shape, names2) => Object.fromEntries(names2.map((name) => [name, shape]));
    SIGNATURE = closed({ ...all(checked, ["algorithm", "keyId", "value", "batch"]), signedAt: time });
    VERIFICATION = closed({
      ...all(checked, ["businessTransactionId", "status", "trustRecordHash"]),
      verificationId: text,
      message,
      verifiedAt: time
    });
    RECEIPT = signed({ signatures: [SIGNATURE] });
    CONFIRMATION = closed({ confirmation: checked, signature: SIGNATURE });
    RECORD = closed({
      ...all(checked, [
        "trustRecordId",
        "businessTransactionId",
        "transaction",
        "authorization",
        "executions",
        "overrides",
        "createdAt",
        "requiredAlgorithms",
        "trustRecordHash",
        "verificationCount",
        "receiptCount",
        "confirmationCount"
      ]),
      signature: SIGNATURE,
      signatures: [SIGNATURE],
      verifications: [VERIFICATION],
      receipts: [RECEIPT],
      confirmations: [CONFIRMATION]
    });
    CHANGE = signed({ signature: SIGNATURE, warnings: texts, diff: advice });
    CLOSE = signed({ signature: SIGNATURE });
    REQUEST = closed({
      ...all(checked, ["request", "requestHash", "actionCode", "expiresAt"]),
      status,
      missing: count,
      intervalSeconds: count,
      url: text,
      eligible: texts,
      endedBy: objectOf(closed({ changeId: text })),
      approvals: listOf(closed({ ...all(text, ["approvalId", "approverId", "keyId"]), approvedAt: time })),
      closed: CLOSE,
      signature: SIGNATURE
    });
    JWK = all(checked, ["kty", "crv", "x", "y", "pub", "alg", "kid", "use"]);
    KEY = closed({
      ...JWK,
      ...all(checked, ["keyId", "algorithm", "pem", "revokedAt"]),
      jwk: closed(JWK),
      passkey: closed(all(checked, ["rpId", "origins", "backupEligible"]))
    });
    OF_KIND = {
      "trust-record": RECORD,
      receipt: RECEIPT,
      "refusal-record": signed({ signature: SIGNATURE }),
      "audit-event": closed({ event: checked, signature: SIGNATURE }),
      "governance-change": CHANGE,
      "intent-transition": closed({ transition: checked, signature: SIGNATURE }),
      "provider-confirmation": CONFIRMATION,
      "approval-request": REQUEST,
      "approval-request-close": CLOSE,
      bundle: closed({
        ...all(checked, ["bundle", "policy"]),
        record: RECORD,
        approverKeys: [KEY],
        changes: [CHANGE],
        proofs: [closed(all(checked, ["kind", "id", "proof"]))]
      })
    };
    PAGE = {
      next: cursorOrNull,
      completeUntil: time,
      verificationCount: count,
      receiptCount: count,
      publicKeys: listOf(KEY)
    };
    PAGE_LISTS = ["events", "changes", "confirmations", "requests", "refusals"];
    NAMED_MAX = 20;
  }
});

// src/core/verifier/not-proven.ts
function notProven(kind) {
  return [...OF_KIND2[kind], ...ALWAYS];
}
var ALWAYS, OF_KIND2;
var init_not_proven = __esm({
  "src/core/verifier/not-proven.ts"() {
    "use strict";
    ALWAYS = [
      "That the key set is authentic: it decides everything. Compare the fingerprints of its keys over a second channel.",
      "That nobody else holds the private keys.",
      "When it was signed: the times are those of the clock of the signer, and `signedAt` is not signed at all.",
      "That nothing is missing: other records, refusals and events may exist that are not in this file."
    ];
    OF_KIND2 = {
      "trust-record": [
        "That the policy was a good one, or is the one whose hash is signed: compare policyContentHash with the policy that you expect.",
        "That the declared signals were true, beyond what was verified.",
        "That as many approved as the policy asks for: the record shows who approved, the policy how many must.",
        "That the approvers are the humans that they are named after, or that a key was not revoked: that is what their key files say.",
        "That the human saw what was signed: the page at the origin that a passkey names showed it.",
        "That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).",
        "That no approval was used for another execution too: compare the nonces.",
        "That the effect happened, or happened as reported: the record holds what the connector reported.",
        "That the verifications were run: they are not signed. Only a receipt confirms one."
      ],
      receipt: [
        "What was executed: a receipt names a record by its hash. Verify the record, and compare its trustRecordHash.",
        "That the verification which it names was run as it says: the signer says so."
      ],
      "refusal-record": [
        "That the policy was a good one, or that it was right to refuse.",
        "That the same was not executed under another businessTransactionId.",
        "That the verified values were right: the refusal holds what the service saw."
      ],
      "audit-event": [
        "That what the event tells is true: it is what the service saw and signed.",
        "The order of events, or that none was left out."
      ],
      "governance-change": [
        "That the change was right, or took effect.",
        "That its warnings and its diff are what the checker was shown: neither is signed.",
        "That an impact report says what the service would have answered: it is what the human saw who signed its hash. Run the simulation over its range again.",
        "That the one who resolved it is a human and another one than the proposer: their names are what the service knew them by.",
        "That the step-up authorization was used only once, and, where no key of that human is given, that it is signed.",
        "That the human saw what was signed: the page at the origin that a passkey names showed it.",
        "That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).",
        "That it is the latest state of the change: each state is signed on its own."
      ],
      "intent-transition": [
        "That the effect happened or did not, as a resolution says: it is what a human found out and stated, or what a provider or the connector said.",
        "That the intent was in the state which it left, or that no other transition was made: each is signed on its own.",
        "That a record of the hash that it names exists: verify the record, and compare its trustRecordHash."
      ],
      "provider-confirmation": [
        "That the effect happened or did not: it is what the provider said, as the rule in effect read its delivery.",
        "That the delivery said so: the confirmation names its SHA-256, and the delivery is not in it.",
        "That the rule was right: compare rulesHash with the rules that you expect.",
        "That the provider said nothing else before or after: each confirmation is signed on its own."
      ],
      "approval-request": [
        "That anybody approved it: an approval is signed by its approver, and stands in the record of the execution.",
        "That it stands as its status, missing, eligible, approvals and endedBy say: only the request and its end are signed.",
        "That what was asked for was executed, or was not: that is what a record or a refusal says.",
        "That the note is true: it is what the caller wrote.",
        "That its signals are true: they are what the caller declared."
      ],
      "approval-request-close": [
        "What was asked for: it names a request by its hash. Verify the request, and compare its requestHash.",
        "That the one who closed it is the human or the caller of that name: their names are what the service knew them by.",
        "That nothing was executed before: a request that was used cannot be closed, and the service says so."
      ],
      bundle: [
        "That the policy was a good one: it is in the bundle to be read.",
        "That the declared signals were true, beyond what was verified.",
        "That as many approved as the policy asks for: the record shows who approved, the policy how many must.",
        "That the approvers are the humans that they are named after, or that a key was not revoked before it was used: a revocation is a governance change of its own.",
        "That the human saw what was signed: the page at the origin that a passkey names showed it.",
        "That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).",
        "That no approval was used for another execution too: compare the nonces.",
        "That those who resolved the governance changes are humans, and that their step-up authorizations were used only once.",
        "That the warnings and the diff of a governance change are what the checker was shown: neither is signed.",
        "That the effect happened, or happened as reported: the record holds what the connector reported.",
        "That the verifications were run: they are not signed. Only a receipt confirms one.",
        "That the log is the same for everybody: that takes witnesses, or two readers who compare its checkpoints."
      ]
    };
  }
});

// src/core/verifier/passkey-counters.ts
function passkeyUses(kind, evidence) {
  if (!DECIDED.includes(kind)) return [];
  const record = kind === "bundle" ? evidence["record"] : evidence;
  return [record, ...itemsOf(record["executions"])].flatMap((one) => isMembers(one) && isMembers(one["decision"]) ? [one["decision"]] : []).flatMap(({ verifiedSignals }) => isMembers(verifiedSignals) ? Object.values(verifiedSignals) : []).flatMap((verified2) => isMembers(verified2) ? itemsOf(verified2["approvals"]) : []).flatMap((approval) => isMembers(approval) ? useOf(approval) : []);
}
function useOf({ payload, webauthn }) {
  const data = isMembers(webauthn) && base64(webauthn["authenticatorData"]);
  if (!data || !isMembers(payload)) return [];
  const { approverId, keyId, issuedAt } = payload;
  const issuedAtMs = instantMs(issuedAt);
  if (Number.isNaN(issuedAtMs)) return [];
  const counter = new DataView(data.buffer, data.byteOffset).getUint32(data.length - 4);
  return [{ keyId: `${approverId}:${keyId}`, issuedAtMs, counter }];
}
function openCounters() {
  const usesOf = /* @__PURE__ */ new Map();
  return {
    add(uses) {
      for (const use of uses) {
        const known = usesOf.get(use.keyId);
        if (known === void 0) usesOf.set(use.keyId, [use]);
        else known.push(use);
      }
    },
    wentBack: () => [...usesOf].filter(([, uses]) => isBehind(uses)).map(([keyId]) => keyId)
  };
}
function isBehind(uses) {
  const inOrder = uses.toSorted((one, other) => one.issuedAtMs - other.issuedAtMs);
  let [earlier2, highest, at2] = [0, 0, -Infinity];
  for (const { issuedAtMs, counter } of inOrder) {
    if (issuedAtMs > at2) [earlier2, at2] = [highest, issuedAtMs];
    if (counter <= earlier2 && earlier2 > 0) return true;
    highest = Math.max(highest, counter);
  }
  return false;
}
var DECIDED;
var init_passkey_counters = __esm({
  "src/core/verifier/passkey-counters.ts"() {
    "use strict";
    init_base64();
    init_evidence();
    init_instant();
    DECIDED = ["trust-record", "refusal-record", "bundle"];
  }
});

// src/core/verifier/refusal-record.ts
function checkRefusalRecord(evidence, given) {
  const refusal = isMembers(evidence) ? evidence : {};
  const { refusalRecordHash, signature, ...signedMembers2 } = refusal;
  const signed2 = canonicalText(signedMembers2);
  return [
    check("refusal hash", "The refusal record hash does not match the canonical record", () => {
      return signed2 !== void 0 && given.sha256Hex(signed2) === refusalRecordHash;
    }),
    checkEd25519("refusal signature", "The refusal record signature is not valid", given, {
      artifact: "refusal-record",
      text: signed2,
      signature
    }),
    check("decision binding", "The decision is not a refusal of this intent", () => boundToDecision2(refusal)),
    checkRefusedApprovals(refusal, given)
  ];
}
function boundToDecision2(refusal) {
  const decision = members(refusal["decision"]);
  const signals = members(decision["signals"]);
  return decision["outcome"] === "REJECTED" && string(decision["intentId"]) === members(refusal["evaluatedIntent"])["intentId"] && [void 0, true].includes(refusal["approvable"]) && list(refusal["mismatches"]).map(members).every(({ signal, declared }) => {
    const given = Object.hasOwn(signals, string(signal)) ? signals[string(signal)] : null;
    return typeof given !== "object" || given === null ? given === declared : false;
  });
}
var init_refusal_record = __esm({
  "src/core/verifier/refusal-record.ts"() {
    "use strict";
    init_approvals();
    init_evidence();
    init_signatures();
  }
});

// src/core/verifier/index.ts
function readTrusted(keySet, trust = {}) {
  return { keys: keySetOf(keySet), log: logTrustOf(trust) };
}
function verifyFileBy(text3, trusted) {
  const evidence = parseEvidence(text3, "The evidence");
  const page = pageOf(evidence);
  if (page === void 0) return [reportOn(evidence, trusted, "This")];
  if (page.entries.length === 0)
    throw new Unusable(page.problem ?? "The file is an empty list: there is no evidence to verify.");
  const reports = page.entries.map((entry, i) => {
    try {
      return reportOn(entry, trusted, `Entry ${i + 1}`);
    } catch (error) {
      if (error instanceof Unusable) return noEvidence(error.message);
      throw error;
    }
  });
  return page.problem === void 0 ? reports : [...reports, noEvidence(page.problem)];
}
function noEvidence(note2) {
  const none = { checks: [], keys: [], missingStepUpKeys: [], passkeyUses: [], notProven: [] };
  return {
    artifact: "unknown",
    subject: "(no id)",
    verdict: "unchecked",
    valid: false,
    ...none,
    notes: [note2]
  };
}
function keySetOf(keySet) {
  return readKeySet(Array.isArray(keySet) ? keySet.map(parsedKeys) : parsedKeys(keySet));
}
function logTrustOf({ log }) {
  return log === void 0 ? void 0 : readLogTrust(log, noteCrypto.sha256);
}
function parsedKeys(given) {
  return typeof given === "string" ? parseEvidence(given, "The key set") : given;
}
function artifactOf(evidence) {
  const kinds = kindsOf(evidence);
  return kinds.length === 1 ? kinds[0] : void 0;
}
function bulkEntries(evidence) {
  return pageOf(evidence)?.entries;
}
function pageOf(evidence) {
  if (Array.isArray(evidence)) return { entries: evidence };
  if (!isMembers(evidence) || kindsOf(evidence).length > 0) return void 0;
  const list2 = pageList(evidence);
  if (list2 === void 0) return void 0;
  return { entries: itemsOf(evidence[list2]), problem: problemOfPage(evidence, list2) };
}
function reportOn(evidence, trusted, which) {
  const members2 = isMembers(evidence) ? evidence : {};
  const artifact = kindOf(members2, which);
  const used = /* @__PURE__ */ new Map();
  const { idOf, inspect: inspect2 } = KINDS2[artifact];
  const inspected = inspect2(members2, { ...trusted, onUsed: (key) => used.set(key.keyId, key) });
  const checks = [...inspected.checks, checkMembers(artifact, members2)];
  const id2 = idOf(members2);
  const verdict = verdictOf(checks);
  return {
    artifact,
    subject: typeof id2 === "string" ? id2 : "(no id)",
    verdict,
    valid: verdict === "valid",
    checks,
    keys: Array.from(used.values(), ({ keyId, algorithm, fingerprint }) => ({
      keyId,
      algorithm,
      fingerprint
    })),
    missingStepUpKeys: missingStepUpKeysIn(artifact, members2, trusted.keys),
    passkeyUses: verdict === "valid" ? passkeyUses(artifact, members2) : [],
    notes: [.../* @__PURE__ */ new Set([...inspected.notes, ...checks.flatMap(({ notes = [] }) => notes)])],
    notProven: notProven(artifact)
  };
}
function missingStepUpKeysIn(artifact, evidence, keys) {
  const changes = artifact === "governance-change" ? [evidence] : artifact === "bundle" ? evidence["changes"] : [];
  const humanKey = (keyId) => keys.get(keyId);
  const missing = itemsOf(changes).filter(isMembers).map((change) => missingStepUpKey(change, { humanKey })).filter((keyId) => keyId !== void 0);
  return [...new Set(missing)];
}
function verdictOf(checks) {
  const problems = checks.filter(({ problem }) => problem !== void 0);
  if (!problems.every(isOpen)) return "invalid";
  return checks.length > 0 && problems.length === 0 ? "valid" : "unchecked";
}
function by(check2, notesOn = () => []) {
  return (evidence, { keys, onUsed, ed25519: ed255192 }) => {
    const crypto = cryptoOf(keys, onUsed, ed255192);
    return { checks: check2(evidence, crypto), notes: notesOn(evidence, crypto) };
  };
}
function kindOf(evidence, which) {
  if (["eventId", "occurredAt", "entry"].every((member) => Object.hasOwn(evidence, member)))
    throw new Unusable(
      `${which} is an event of GET /events, which is not signed: verify the evidence that it names.`
    );
  const kinds = kindsOf(evidence);
  const [kind, ...others] = kinds;
  if (kind === void 0 && typeof evidence["error"] === "string")
    throw new Unusable(
      `${which} is no evidence but an error that a service answered: ${JSON.stringify(evidence["error"])}.`
    );
  if (kind === void 0)
    throw new Unusable(
      `${which} is no evidence of a known kind: a record has a trustRecordId, a receipt a receiptId, a refusal a refusalRecordId, a change a changeId, a changeHash and a signature, a bundle the member bundle; an audit event stands as {event, signature}, an intent's transition as {transition, signature}, a provider's confirmation as {confirmation, signature}; an approval request has a request, a requestHash and a signature, its end a closeId.`
    );
  if (others.length > 0)
    throw new Unusable(`${which} claims to be several kinds of evidence: ${kinds.join(", ")}.`);
  return kind;
}
function kindsOf(evidence) {
  return Object.keys(KINDS2).filter(
    (kind) => KINDS2[kind].marks.every((mark) => Object.hasOwn(evidence, mark))
  );
}
var KINDS2;
var init_verifier = __esm({
  "src/core/verifier/index.ts"() {
    "use strict";
    init_approval_request();
    init_approvals();
    init_audit_event();
    init_bundle();
    init_crypto();
    init_evidence();
    init_governance_change();
    init_intent_transition();
    init_keys();
    init_known_members();
    init_log_trust();
    init_not_proven();
    init_note_crypto();
    init_parse();
    init_passkey_counters();
    init_provider_confirmation();
    init_receipt();
    init_refusal_record();
    init_unusable();
    init_whole_record();
    KINDS2 = {
      "trust-record": {
        marks: ["trustRecordId"],
        idOf: ({ trustRecordId }) => trustRecordId,
        inspect: by(checkWholeRecord, (record) => notesOnRecord(record, { promise: true }))
      },
      receipt: {
        marks: ["receiptId"],
        idOf: ({ receiptId }) => receiptId,
        inspect: by(checkReceipt, (receipt) => notesOnReceipt(receipt))
      },
      "refusal-record": {
        marks: ["refusalRecordId"],
        idOf: ({ refusalRecordId }) => refusalRecordId,
        inspect: by(checkRefusalRecord, ({ decision }) => notesOnApprovals([decision]))
      },
      "audit-event": {
        marks: ["event", "signature"],
        idOf: ({ event }) => isMembers(event) ? event["eventId"] : void 0,
        inspect: by(checkAuditEvent)
      },
      "governance-change": {
        marks: ["changeId", "changeHash", "signature"],
        idOf: ({ changeId }) => changeId,
        inspect: by(checkGovernanceChange, notesOnChange)
      },
      "intent-transition": {
        marks: ["transition", "signature"],
        idOf: ({ transition }) => isMembers(transition) ? transition["transitionId"] : void 0,
        inspect: by(checkIntentTransition)
      },
      "provider-confirmation": {
        marks: ["confirmation", "signature"],
        idOf: ({ confirmation }) => isMembers(confirmation) ? confirmation["confirmationId"] : void 0,
        inspect: by(checkProviderConfirmation, ({ confirmation }) => notesOnConfirmation(confirmation))
      },
      "approval-request": {
        marks: ["request", "requestHash", "signature"],
        idOf: ({ request }) => isMembers(request) ? request["requestId"] : void 0,
        inspect: by(checkApprovalRequest, notesOnApprovalRequest)
      },
      "approval-request-close": {
        marks: ["closeId", "requestHash", "signature"],
        idOf: ({ closeId }) => closeId,
        inspect: by(checkApprovalRequestClose)
      },
      bundle: {
        marks: ["bundle"],
        idOf: ({ record }) => isMembers(record) ? record["trustRecordId"] : void 0,
        inspect: (bundle, { keys, log, onUsed, ed25519: ed255192 }) => inspectBundle(bundle, {
          keys,
          log,
          cryptoBy: (known) => cryptoOf(known, onUsed, ed255192),
          onLogKeyUsed: (key) => onUsed(describedLogKey(key))
        })
      }
    };
  }
});

// src/core/text.ts
function counted(count2, noun) {
  return `${count2} ${noun}${count2 === 1 ? "" : "s"}`;
}
function cut(text3, max) {
  return text3.length <= max ? text3 : `${text3.slice(0, max).toWellFormed()}…`;
}
function escapeHtml(text3) {
  return text3.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}
var init_text2 = __esm({
  "src/core/text.ts"() {
    "use strict";
  }
});

// src/core/verifier/summary.ts
function openSummary() {
  const all2 = { valid: 0, invalid: 0, unchecked: 0 };
  const kinds = /* @__PURE__ */ new Map();
  const missingKeys = /* @__PURE__ */ new Set();
  const missingLogs = /* @__PURE__ */ new Set();
  const stepUpKeys2 = /* @__PURE__ */ new Set();
  const counters = openCounters();
  const cut2 = /* @__PURE__ */ new Set();
  let files = 0;
  return {
    add({ artifact, verdict, checks, missingStepUpKeys, passkeyUses: passkeyUses2 }) {
      const ofKind = kinds.get(artifact) ?? { valid: 0, invalid: 0, unchecked: 0 };
      kinds.set(artifact, ofKind);
      all2[verdict]++;
      ofKind[verdict]++;
      for (const { missingKeys: ids = [], missingLog } of checks) {
        for (const id2 of ids) note(missingKeys, id2);
        if (missingLog !== void 0) note(missingLogs, missingLog);
      }
      for (const id2 of missingStepUpKeys) note(stepUpKeys2, id2);
      counters.add(passkeyUses2);
    },
    addFile(name, cutShort) {
      files++;
      if (cutShort) note(cut2, name);
    },
    summary: () => ({
      files,
      pieces: all2.valid + all2.invalid + all2.unchecked,
      ...all2,
      kinds: Object.fromEntries(kinds),
      missingKeys: [...missingKeys],
      missingLogs: [...missingLogs],
      missingStepUpKeys: [...stepUpKeys2],
      countersWentBack: counters.wentBack().slice(0, NAMED_MAX2),
      cutShort: [...cut2]
    })
  };
}
function note(names2, name) {
  if (names2.size < NAMED_MAX2) names2.add(name);
}
function exitCodeOf({ pieces, valid, invalid, cutShort }) {
  if (invalid > 0) return 1;
  return pieces > 0 && valid === pieces && cutShort.length === 0 ? 0 : 2;
}
function summaryLines(summary) {
  const { files, pieces, kinds } = summary;
  return [
    `${counted(pieces, "piece")} of evidence in ${counted(files, "file")}: ${countsText(summary)}`,
    ...Object.entries(kinds).map(([kind, counts]) => `  ${kind}: ${countsText(counts)}`),
    ...noteLines(summary)
  ];
}
function noteLines({
  missingKeys,
  missingLogs,
  missingStepUpKeys,
  countersWentBack,
  cutShort
}) {
  const lines = [];
  if (missingKeys.length > 0)
    lines.push(
      `Keys that are not given: ${named(missingKeys)}. Those of approvers are at GET /.well-known/approver-keys.json of the service, any at GET /keys/{keyId}.`
    );
  if (missingLogs.length > 0)
    lines.push(
      `Logs whose description is not given: ${named(missingLogs)}. It is at GET /.well-known/countersign-log of the service.`
    );
  if (missingStepUpKeys.length > 0)
    lines.push(
      `Step-up signatures that were not checked, because the keys of these humans are not given: ${named(missingStepUpKeys)}. Everything else about their changes was.`
    );
  if (countersWentBack.length > 0)
    lines.push(
      `Passkeys whose signature counter does not grow with the time of signing: ${named(countersWentBack)}. A copy of each may have signed; what they signed is valid all the same.`
    );
  if (cutShort.length > 0)
    lines.push(`Without the last line of a whole export: ${named(cutShort)}. Something may be missing.`);
  return lines.map(printable);
}
function countsText({ valid, invalid, unchecked }) {
  return `${valid} valid, ${invalid} INVALID, ${unchecked} cannot be checked`;
}
function named(names2) {
  return `${names2.join(", ")}${names2.length === NAMED_MAX2 ? ", …" : ""}`;
}
var NAMED_MAX2;
var init_summary = __esm({
  "src/core/verifier/summary.ts"() {
    "use strict";
    init_printable();
    init_text2();
    init_passkey_counters();
    NAMED_MAX2 = 20;
  }
});

// src/core/verifier/lines.ts
function isLines(name, first, hasMore) {
  const mayBe = hasMore || LINES_FILE.test(name) || exportEnd(first) !== void 0;
  if (!mayBe || !/^\s*[[{]/.test(first)) return false;
  try {
    JSON.parse(first);
    return true;
  } catch {
    return false;
  }
}
function countLines() {
  let sinceEnd = 0;
  let ended = false;
  let fits = true;
  return {
    take(line) {
      if (line.trim() === "") return false;
      const count2 = exportEnd(line);
      if (count2 === void 0) {
        sinceEnd++;
        return true;
      }
      fits &&= count2 === sinceEnd;
      ended = true;
      sinceEnd = 0;
      return false;
    },
    isWhole: () => ended && fits && sinceEnd === 0
  };
}
function countOf({ count: count2, ...range }) {
  const isRange = Object.entries(range).every(
    ([name, value]) => RANGE.includes(name) && (value === null || typeof value === "string")
  );
  return isRange && typeof count2 === "number" ? count2 : void 0;
}
function exportEnd(line) {
  if (!line.startsWith('{"exportEnd"')) return void 0;
  try {
    const { exportEnd: end = null, ...others } = JSON.parse(line);
    return Object.keys(others).length === 0 && isMembers(end) ? countOf(end) : void 0;
  } catch {
    return void 0;
  }
}
var LINES_FILE, RANGE;
var init_lines = __esm({
  "src/core/verifier/lines.ts"() {
    "use strict";
    init_evidence();
    LINES_FILE = /\.(?:ndjson|jsonl)$/i;
    RANGE = ["kind", "callerId", "since", "until"];
  }
});

// src/cli/verify/inputs.ts
import { createReadStream, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
async function findFiles(paths) {
  const found = [];
  for (const path of paths) {
    if (path === "-" || !await isFolder(path)) {
      found.push(path);
      continue;
    }
    const inside = await filesBelow(path);
    if (inside.length === 0) throw new Unusable(`${path} holds no .json, .ndjson or .jsonl file.`);
    found.push(...inside.toSorted());
  }
  return found;
}
async function filesBelow(folder) {
  const found = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      found.push(...await filesBelow(path));
    } else if (entry.isSymbolicLink() && await isFolder(path)) {
      throw new Unusable(`${path} is a link to a folder: give the folder itself.`);
    } else if (EVIDENCE_FILE.test(entry.name)) {
      if (!(await stat(path)).isFile())
        throw new Unusable(`${path} is no plain file: nobody knows where it ends.`);
      found.push(path);
    }
  }
  return found;
}
async function isFolder(path) {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw unreadable(path, error);
  }
}
async function* readBatches(file) {
  try {
    yield* batchesOf(file);
  } catch (error) {
    const { message: message2 } = error instanceof Unusable ? error : unreadable(file, error);
    yield { file, texts: [], end: "whole", problem: message2 };
  }
}
async function* batchesOf(file) {
  let rest = "";
  let count2;
  let kind;
  let line = 0;
  let characters = 0;
  let texts2 = [];
  let lines = [];
  const take = (one) => {
    line++;
    if (count2?.take(one) !== true) return;
    texts2.push(one);
    lines.push(line);
    characters += one.length;
  };
  for await (const text3 of textsOf(file)) {
    rest += text3;
    if (rest.length > TEXT_CHARACTERS_MAX)
      throw new Unusable(`${nameOf4(file)} has more than ${TEXT_CHARACTERS_MAX} characters in one piece.`);
    kind ??= kindOf2(file, rest);
    if (kind !== "lines") continue;
    count2 ??= countLines();
    const whole = rest.split("\n");
    rest = whole.pop() ?? "";
    for (const one of whole) {
      take(one);
      if (characters < BATCH_CHARACTERS) continue;
      yield { file, texts: texts2, lines };
      [texts2, lines, characters] = [[], [], 0];
    }
  }
  if (kind === void 0 && isLines(file, rest.trim(), false)) count2 = countLines();
  if (count2 === void 0) {
    yield { file, texts: [rest], end: "whole" };
    return;
  }
  for (const one of rest.split("\n")) take(one);
  yield { file, texts: texts2, lines, end: count2.isWhole() ? "whole" : "cut short" };
}
function kindOf2(file, head) {
  const start = head.search(/\S/);
  const end = start === -1 ? -1 : head.indexOf("\n", start);
  if (end === -1 || !/\S/.test(head.slice(end))) return void 0;
  return isLines(file, head.slice(start, end), true) ? "lines" : "text";
}
async function* textsOf(file) {
  const source = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 1024 * 1024 });
  const decoded2 = openDecoder(file);
  for await (const chunk of source) yield decoded2(chunk);
  yield decoded2();
}
function nameOf4(path) {
  return path === "-" ? "Standard input" : path;
}
function readKeySetText(path) {
  const text3 = readText(path);
  parseEvidence(text3, nameOf4(path));
  return text3;
}
function readText(path) {
  let bytes;
  try {
    bytes = readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    throw unreadable(path, error);
  }
  const decoded2 = openDecoder(path);
  return decoded2(bytes) + decoded2();
}
function openDecoder(path) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let first;
  return (bytes) => {
    first ??= bytes?.subarray(0, 2).toString("hex");
    try {
      return decoder.decode(bytes, { stream: bytes !== void 0 });
    } catch {
      const isUtf16 = first === "fffe" || first === "feff";
      throw new Unusable(
        `${nameOf4(path)} is not UTF-8 text${isUtf16 ? ": it is UTF-16. Save it as UTF-8" : ""}.`
      );
    }
  };
}
function unreadable(path, error) {
  return new Unusable(`${nameOf4(path)} cannot be read (${codeOf(error)}).`);
}
function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
}
var EVIDENCE_FILE, BATCH_CHARACTERS, TEXT_CHARACTERS_MAX;
var init_inputs = __esm({
  "src/cli/verify/inputs.ts"() {
    "use strict";
    init_verifier();
    init_parse();
    init_lines();
    EVIDENCE_FILE = /\.(?:json|ndjson|jsonl)$/i;
    BATCH_CHARACTERS = 256 * 1024;
    TEXT_CHARACTERS_MAX = 256 * 1024 * 1024;
  }
});

// src/cli/verify/report.ts
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
async function openReport(path) {
  let file;
  try {
    file = await open(path, WRITABLE);
  } catch (error) {
    throw new Unusable(`${path} cannot be written (${codeOf(error)}): a report is a plain file, and no link.`);
  }
  const found = await file.stat();
  if (!found.isFile() || found.nlink > 1) {
    await file.close();
    throw new Unusable(`${path} is no plain file with one name: write the report to another one.`);
  }
  await file.truncate();
  const rows = { invalid: [], unchecked: [], valid: [] };
  const actions = openTally();
  const approvers = openTally();
  const keys = /* @__PURE__ */ new Map();
  return {
    add(row) {
      const { report, account } = row;
      const ofVerdict = rows[report.verdict];
      if (ofVerdict.length < ROWS_MAX) ofVerdict.push(row);
      for (const { keyId, fingerprint } of report.keys)
        if (keys.size < NAMES_MAX2) keys.set(keyId, fingerprint);
      if (account === void 0 || report.verdict !== "valid") return;
      if (account.action !== void 0) actions.add(account.action.name, account.action.ending);
      for (const name of account.approvers) approvers.add(name, APPROVED);
    },
    async end(summary) {
      await file.writeFile(pageOf2({ summary, rows, actions: actions.all, approvers: approvers.all, keys }));
      await file.close();
    }
  };
}
function openTally() {
  const all2 = /* @__PURE__ */ new Map();
  return {
    all: all2,
    add(name, what) {
      const counts = all2.get(name) ?? {};
      if (all2.has(name) || all2.size < NAMES_MAX2) all2.set(name, counts);
      counts[what] = (counts[what] ?? 0) + 1;
    }
  };
}
function pageOf2({ summary, rows, actions, approvers, keys }) {
  const { mark, tone, text: text3 } = HEADLINES[exitCodeOf(summary)];
  const shown = [...rows.invalid, ...rows.unchecked, ...rows.valid];
  const kinds = Object.entries(summary.kinds);
  const limits = new Set(kinds.flatMap(([kind]) => kind === "unknown" ? [] : notProven(kind)));
  const left = summary.pieces - shown.length;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign verification report</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Verification report</h1>
<p class="headline ${tone}"><span aria-hidden="true">${mark}</span> ${text3}</p>
${noteLines(summary).map((line) => `<p class="missing">${escaped(line)}</p>`).join("\n")}
${table(
    "What was checked",
    ["Evidence", "valid", "NOT VALID", "cannot be checked"],
    [...kinds.map(([kind, ofKind]) => [KINDS3[kind], ...numbers(ofKind)]), ["In all", ...numbers(summary)]]
  )}
${table(
    "What was asked for, as far as it is valid",
    ["Action", "How it ended"],
    Array.from(actions, ([name, endings]) => [
      name,
      Object.entries(endings).map(([ending, count2]) => `${ending}: ${count2}`).join("; ")
    ])
  )}
${table(
    "Who approved",
    ["Approver", "Actions"],
    Array.from(approvers, ([name, { [APPROVED]: count2 }]) => [name, `${count2}`])
  )}
<h2>Each piece of evidence</h2>
<p class="quiet">What stands here is what the evidence says. Only the verdict beside it says whether that was signed so.${left > 0 ? ` ${left} more are counted above and not listed; what is not valid comes first.` : ""}</p>
<ol class="pieces">
${shown.map(piece).join("\n")}
</ol>
${table("Keys by which signatures held", ["Key", "SHA-256 of the public key: compare it through another channel"], [...keys], "mono")}
<h2>What this report does not prove</h2>
<ul>
${Array.from(limits, (limit) => `<li>${escaped(limit)}</li>`).join("\n")}
</ul>
</main>
</body>
</html>
`;
}
function numbers({ valid, invalid, unchecked }) {
  return [valid, invalid, unchecked].map(String);
}
function piece({ file, line, report, account }) {
  const { artifact, verdict, subject, checks, notes } = report;
  const place = `${subject} in ${file}${line === void 0 ? "" : `, line ${line}`}`;
  const said = [...account?.said ?? [], ["Evidence", place]];
  const problems = [
    ...checks.flatMap(({ name, problem }) => problem === void 0 ? [] : [`${name}: ${problem}`]),
    ...artifact === "unknown" ? notes : []
  ];
  return `<li class="${verdict}"><h3>${VERDICTS[verdict]}: ${KINDS3[artifact]}</h3>
<dl>${said.map(([about, text3]) => `<div><dt>${about}</dt><dd>${escaped(text3)}</dd></div>`).join("")}</dl>
${problems.length === 0 ? "" : `<ul class="problems">${problems.map((one) => `<li>${escaped(one)}</li>`).join("")}</ul>`}</li>`;
}
function table(caption, columns, rows, className = "") {
  if (rows.length === 0) return "";
  return `<table class="${className}"><caption>${caption}</caption>
<thead><tr>${columns.map((column) => `<th scope="col">${column}</th>`).join("")}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`).join("\n")}</tbody></table>`;
}
var WRITABLE, ROWS_MAX, NAMES_MAX2, APPROVED, HEADLINES, VERDICTS, KINDS3, escaped, STYLE;
var init_report = __esm({
  "src/cli/verify/report.ts"() {
    "use strict";
    init_printable();
    init_verifier();
    init_not_proven();
    init_inputs();
    init_summary();
    init_text2();
    WRITABLE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    ROWS_MAX = 1e3;
    NAMES_MAX2 = 200;
    APPROVED = "approved";
    HEADLINES = [
      { mark: "✓", tone: "valid", text: "Everything that was checked is what the service signed, unchanged." },
      { mark: "✗", tone: "invalid", text: "Something is not what the service signed. It stands first below." },
      {
        mark: "?",
        tone: "unchecked",
        text: "Nothing was found to be wrong, and something could not be checked."
      }
    ];
    VERDICTS = {
      valid: "✓ valid",
      invalid: "✗ NOT VALID",
      unchecked: "? cannot be checked"
    };
    KINDS3 = {
      "trust-record": "Executed action",
      receipt: "Receipt",
      "refusal-record": "Refused action",
      "audit-event": "Audit event",
      "governance-change": "Change by two humans",
      "intent-transition": "End of an execution in doubt",
      "provider-confirmation": "Statement of a provider",
      "approval-request": "Request for approval",
      "approval-request-close": "End of a request for approval",
      bundle: "Executed action, with all that it rests on",
      unknown: "No evidence"
    };
    escaped = (text3) => escapeHtml(printable(text3));
    STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1d21; --faint: #5a606b; --line: #c5cad3; --zone: #f5f7fa;
  --valid: #0b6b34; --invalid: #a8071a; --unchecked: #7a4a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171b; --ink: #e8eaee; --faint: #a6adb9; --line: #434954; --zone: #1e2127;
    --valid: #6fd597; --invalid: #ff8f97; --unchecked: #f0b95c;
  }
}
@media print {
  :root {
    --paper: #ffffff; --ink: #000000; --faint: #333333; --line: #888888; --zone: #ffffff;
    --valid: #0b6b34; --invalid: #a8071a; --unchecked: #7a4a00;
  }
  .pieces > li { break-inside: avoid; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0 0 0.5rem; font-size: 1rem; }
.headline { padding: 0.75rem 1rem; border: 2px solid; border-radius: 0.5rem; font-size: 1.15rem; font-weight: 600; }
.quiet { margin: 0.25rem 0; color: var(--faint); }
.missing { margin: 0.5rem 0; padding-left: 0.75rem; border-left: 4px solid var(--unchecked); overflow-wrap: anywhere; }
.valid h3, .headline.valid { color: var(--valid); }
.invalid h3, .headline.invalid, .invalid .problems { color: var(--invalid); }
.unchecked h3, .headline.unchecked, .unchecked .problems { color: var(--unchecked); }
table { width: 100%; margin: 1.5rem 0; border-collapse: collapse; }
caption { padding-bottom: 0.5rem; font-size: 1.25rem; font-weight: 600; text-align: left; }
th, td { padding: 0.35rem 0.4rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
td:first-child { min-width: 6rem; }
.mono td { font-family: ui-monospace, monospace; font-size: 0.875rem; }
.pieces { padding: 0; list-style: none; }
.pieces > li { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-left-width: 4px; border-radius: 0.25rem; background: var(--zone); }
.pieces > li.valid { border-left-color: var(--valid); }
.pieces > li.invalid { border-left-color: var(--invalid); }
.pieces > li.unchecked { border-left-color: var(--unchecked); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 0.25rem 1rem; margin: 0; }
dt { color: var(--faint); font-size: 0.875rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.problems { margin: 0.5rem 0 0; padding-left: 1.25rem; }
`;
  }
});

// src/core/verifier/account.ts
function accountsOf(file) {
  let evidence;
  try {
    evidence = parseEvidence(file, "The evidence");
  } catch {
    return [];
  }
  return (bulkEntries(evidence) ?? [evidence]).map((entry) => {
    const members2 = isMembers(entry) ? entry : {};
    const artifact = artifactOf(members2);
    const { said, ...others } = artifact === void 0 ? { said: {} } : ACCOUNTS[artifact](members2);
    const texts2 = Object.entries(said).filter(([, one]) => one !== "");
    return {
      approvers: [],
      ...others,
      said: texts2.map(([about, one]) => [about, cut(one, TEXT_MAX)])
    };
  });
}
function ofRecord(record) {
  const transaction = at(record, "transaction");
  const intent = at(transaction, "intent");
  const authority = at(transaction, "authority");
  const [executed] = itemsOf(record["executions"]);
  const execution = isMembers(executed) ? executed : {};
  const isDone = text2(execution, "status") === "COMPLETED";
  const ending = isDone ? "Done, as the connector reported" : "Not done";
  const why = isDone ? "" : text2(at(at(execution, "evidence"), "result"), "reason");
  const approvers = approversOf(at(execution, "decision"));
  return {
    action: { name: text2(intent, "action"), ending },
    approvers,
    said: {
      ...ofIntent(intent),
      "Asked by": text2(at(transaction, "metadata"), "submittedBy"),
      "On behalf of": text2(authority, "displayName") || text2(authority, "principalId"),
      "Approved by": approvers.join(", "),
      "Under policy": policyText(at(transaction, "policy")),
      "What was done": joined(": ", ending, why),
      When: text2(execution, "completedAt") || text2(record, "createdAt")
    }
  };
}
function ofRefusal(refusal) {
  const decision = at(refusal, "decision");
  const intent = at(refusal, "evaluatedIntent");
  return {
    action: { name: text2(intent, "action"), ending: "Refused" },
    said: {
      ...ofIntent(intent),
      "Asked by": text2(refusal, "submittedBy"),
      "Under policy": policyText(at(decision, "policy")),
      "What was done": joined(": ", "Refused", text2(decision, "reason")),
      When: text2(refusal, "createdAt")
    }
  };
}
function ofRequest(request) {
  return {
    action: { name: text2(request, "capability"), ending: "An approval was asked for" },
    said: {
      "Asked for": joined(" → ", text2(request, "capability"), text2(request, "target")),
      "How much": membersText(at(request, "parameters")),
      "Asked by": text2(request, "requestedBy"),
      "On behalf of": text2(request, "principalId"),
      "Under policy": policyText(at(request, "policy")),
      When: text2(request, "createdAt")
    }
  };
}
function ofIntent(intent) {
  return {
    "Asked for": joined(" → ", text2(intent, "action"), text2(intent, "target")),
    "How much": membersText(at(intent, "parameters"))
  };
}
function approversOf(decision) {
  const approvals = Object.values(at(decision, "verifiedSignals")).flatMap(
    (signal) => isMembers(signal) ? itemsOf(signal["approvals"]) : []
  );
  const names2 = approvals.map(
    (approval) => isMembers(approval) ? text2(at(approval, "payload"), "approverId") : ""
  );
  return [...new Set(names2.filter(Boolean))].map((name) => cut(name, TEXT_MAX));
}
function policyText(policy) {
  return joined(" ", text2(policy, "name"), text2(policy, "version"));
}
function membersText(members2) {
  return Object.entries(members2).map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
}
function joined(separator, ...texts2) {
  return texts2.filter(Boolean).join(separator);
}
function at(members2, name) {
  const value = members2[name];
  return isMembers(value) ? value : {};
}
function text2(members2, name) {
  const value = members2[name];
  return typeof value === "string" ? value : "";
}
var TEXT_MAX, ACCOUNTS;
var init_account = __esm({
  "src/core/verifier/account.ts"() {
    "use strict";
    init_text2();
    init_evidence();
    init_verifier();
    init_parse();
    TEXT_MAX = 200;
    ACCOUNTS = {
      bundle: (bundle) => ofRecord(at(bundle, "record")),
      "trust-record": ofRecord,
      "refusal-record": ofRefusal,
      "approval-request": (evidence) => ofRequest(at(evidence, "request")),
      "approval-request-close": (close) => ({
        said: {
          Request: text2(close, "requestId"),
          "How it ended": joined(": ", text2(close, "status"), text2(close, "reason")),
          By: text2(close, "by"),
          When: text2(close, "closedAt")
        }
      }),
      receipt: (receipt) => ({
        said: { "Receipt for": text2(receipt, "businessTransactionId"), When: text2(receipt, "issuedAt") }
      }),
      "governance-change": (change) => ({
        said: {
          Change: joined(" ", text2(change, "kind"), text2(change, "target")),
          Why: text2(change, "reason"),
          "Proposed by": text2(change, "proposedBy"),
          "How it ended": text2(change, "status"),
          By: text2(change, "resolvedBy"),
          When: text2(change, "resolvedAt") || text2(change, "proposedAt")
        }
      }),
      "audit-event": (evidence) => {
        const event = at(evidence, "event");
        return {
          said: {
            Event: joined(" ", text2(event, "type"), text2(event, "capability")),
            Caller: text2(event, "callerId"),
            Why: text2(event, "reason"),
            When: text2(event, "occurredAt")
          }
        };
      },
      "intent-transition": (evidence) => {
        const transition = at(evidence, "transition");
        return {
          said: {
            Execution: text2(transition, "businessTransactionId"),
            "How it ended": joined(": ", text2(transition, "to"), text2(transition, "resolution")),
            Why: text2(transition, "note"),
            By: text2(transition, "by"),
            When: text2(transition, "at")
          }
        };
      },
      "provider-confirmation": (evidence) => {
        const confirmation = at(evidence, "confirmation");
        return {
          said: {
            Execution: text2(confirmation, "businessTransactionId"),
            "What the provider says": text2(confirmation, "says"),
            Provider: text2(confirmation, "provider"),
            When: text2(confirmation, "receivedAt")
          }
        };
      }
    };
  }
});

// src/core/verifier/many.ts
function reportsOn(text3, trusted) {
  try {
    return verifyFileBy(text3, trusted);
  } catch (error) {
    if (error instanceof Unusable) return [noEvidence(error.message)];
    throw error;
  }
}
var init_many = __esm({
  "src/core/verifier/many.ts"() {
    "use strict";
    init_verifier();
    init_lines();
    init_unusable();
  }
});

// src/cli/verify/native-ed25519.ts
import { createPublicKey, verify } from "node:crypto";
function keyObject(publicKey) {
  let key = keyObjects.get(publicKey);
  if (key === void 0) {
    key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: "der", type: "spki" });
    keyObjects.set(publicKey, key);
  }
  return key;
}
var SMALL_ORDER, SPKI_PREFIX, keyObjects, nativeEd25519;
var init_native_ed25519 = __esm({
  "src/cli/verify/native-ed25519.ts"() {
    "use strict";
    init_utils();
    init_crypto();
    SMALL_ORDER = /* @__PURE__ */ new Set([
      "0100000000000000000000000000000000000000000000000000000000000000",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0000000000000000000000000000000000000000000000000000000000000080",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"
    ]);
    SPKI_PREFIX = hexToBytes("302a300506032b6570032100");
    keyObjects = /* @__PURE__ */ new WeakMap();
    nativeEd25519 = (signed2) => {
      const { message: message2, signature, publicKey } = signed2;
      return signature.length === 64 && !SMALL_ORDER.has(Buffer.from(signature.subarray(0, 32)).toString("hex")) && verify(null, message2, keyObject(publicKey), signature) || verifiers.ed25519(signed2);
    };
  }
});

// src/cli/verify/task.ts
function trustedBy({ jwks, log }) {
  return { ...readTrusted(jwks, log === void 0 ? {} : { log }), ed25519: nativeEd25519 };
}
function runTask({ texts: texts2, detail, withAccounts }, trusted) {
  return texts2.map((text3) => {
    const accounts = withAccounts ? accountsOf(text3) : [];
    return reportsOn(text3, trusted).map((report, i) => ({
      report: detail === "whole" ? report : { ...shortened(report), keys: withAccounts ? report.keys : [] },
      account: accounts[i]
    }));
  });
}
function shortened(report) {
  const isValid = report.verdict === "valid";
  return {
    ...report,
    checks: isValid ? [] : report.checks.filter(({ problem }) => problem !== void 0),
    notes: isValid ? [] : report.notes,
    notProven: []
  };
}
var init_task = __esm({
  "src/cli/verify/task.ts"() {
    "use strict";
    init_account();
    init_verifier();
    init_many();
    init_native_ed25519();
  }
});

// src/cli/verify/threads.ts
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
function serveTasks() {
  const { countersignVerify: trust } = workerData ?? {};
  if (isMainThread || parentPort === null || trust === void 0) return false;
  const port = parentPort;
  const trusted = trustedBy(trust);
  port.on("message", (task) => port.postMessage(runTask(task, trusted)));
  return true;
}
async function* runOnThreads(tasks, trust, file) {
  const threads = [];
  const pending = [];
  const iterator = tasks[Symbol.asyncIterator]();
  const count2 = Math.min(availableParallelism(), THREADS_MAX);
  try {
    const [first, second] = [await iterator.next(), await iterator.next()];
    if (first.done !== true && second.done === true) {
      yield { ...first.value, done: runTask(first.value.task, trustedBy(trust)) };
      return;
    }
    const ahead = [first, second];
    for (let next = ahead.shift(); next !== void 0 && next.done !== true; ) {
      const taken = next.value;
      if (threads.length < count2) threads.push(openThread(file, trust));
      const result = submit(threads, taken.task).then((done) => ({ ...taken, done }));
      result.catch(() => void 0);
      pending.push(result);
      if (pending.length >= count2 * TASKS_OF_A_THREAD) yield await pending.shift();
      next = ahead.shift() ?? await iterator.next();
    }
    for (const one of pending) yield await one;
  } finally {
    await iterator.return?.();
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}
function openThread(file, trust) {
  const data = { countersignVerify: trust };
  const thread = { worker: new Worker(file, { workerData: data, argv: [] }), waiting: [] };
  const fail = (error) => {
    for (const { reject } of thread.waiting.splice(0)) reject(error);
  };
  thread.worker.on("message", (done) => thread.waiting.shift()?.resolve(done));
  thread.worker.on("error", (error) => fail(error instanceof Error ? error : new Error(String(error))));
  thread.worker.on("exit", () => fail(new Error("A thread of the verifier ended early.")));
  return thread;
}
function submit(threads, task) {
  const [least] = threads.toSorted((a, b) => a.waiting.length - b.waiting.length);
  if (least === void 0) throw new Error("no thread");
  return new Promise((resolve2, reject) => {
    least.waiting.push({ resolve: resolve2, reject });
    least.worker.postMessage(task);
  });
}
var THREADS_MAX, TASKS_OF_A_THREAD;
var init_threads = __esm({
  "src/cli/verify/threads.ts"() {
    "use strict";
    init_task();
    THREADS_MAX = 16;
    TASKS_OF_A_THREAD = 2;
  }
});

// src/cli/verify-command.ts
var verify_command_exports = {};
__export(verify_command_exports, {
  verifyCommand: () => verifyCommand
});
import { resolve } from "node:path";
async function verifyCommand(request) {
  process.stdout.on("error", () => process.exit(2));
  try {
    return await verifyAll(request);
  } catch (error) {
    console.error(`countersign: ${printable(errorText(error))}`);
    return 2;
  }
}
async function verifyAll(request) {
  const { files, jwks, log } = request;
  if ([...files, ...jwks, log].filter((path) => path === "-").length > 1)
    throw new Unusable("Standard input can be read only once: give one file as `-`.");
  const trust = { jwks: jwks.map(readKeySetText), log: log === void 0 ? void 0 : readText(log) };
  trustedBy(trust);
  const inputs = await findFiles(files);
  const summing = openSummary();
  const report = request.report === void 0 ? void 0 : await openReportBeside(request.report, inputs);
  const printer = openPrinter(request);
  for await (const found of verified(inputs, trust, request, summing)) {
    summing.add(found.report);
    report?.add(found);
    await printer.add(found);
  }
  const summary = summing.summary();
  await report?.end(summary);
  await printer.end(summary);
  return exitCodeOf(summary);
}
function openReportBeside(path, inputs) {
  if (inputs.some((input) => resolve(input) === resolve(path)))
    throw new Unusable(`${path} is evidence: write the report to another file.`);
  return openReport(path);
}
async function* verified(inputs, trust, { json, report, threadFile }, summing) {
  async function* tasks() {
    for (const input of inputs)
      for await (const batch of readBatches(input)) {
        const detail = json || inputs.length === 1 && batch.lines === void 0 ? "whole" : "short";
        yield { batch, task: { texts: batch.texts, detail, withAccounts: report !== void 0 } };
      }
  }
  for await (const { batch, done } of runOnThreads(tasks(), trust, threadFile)) {
    const { file, lines, end, problem } = batch;
    if (problem !== void 0)
      yield { file, line: void 0, report: noEvidence(problem), account: void 0 };
    for (const [i, ofText] of done.entries())
      for (const one of ofText) yield { ...one, file, line: lines?.[i] };
    if (end !== void 0) summing.addFile(file, end === "cut short");
  }
}
function openPrinter({ json, quiet, files }) {
  const style = json ? openJson() : LINES;
  const each = async (found) => {
    if (!quiet || found.report.verdict !== "valid") await style.each(found);
  };
  let isMany = quiet || files.length > 1;
  let waiting;
  return {
    async add(found) {
      if (!isMany && waiting === void 0 && found.line === void 0) {
        waiting = found;
        return;
      }
      isMany = true;
      if (waiting !== void 0) await each(waiting);
      waiting = void 0;
      await each(found);
    },
    end: (summary) => waiting === void 0 ? style.end(summary) : style.alone(waiting)
  };
}
function openJson() {
  let written = 0;
  const start = () => written++ === 0 ? '{"reports":[' : ",";
  return {
    async alone(found) {
      refuseNone(found);
      await printJson(JSON.stringify(found.report, void 0, 2));
    },
    each: ({ file, line, report }) => printJson(`${start()}${JSON.stringify({ file, line, ...report })}`),
    end: (summary) => printJson(`${written === 0 ? start() : ""}],"summary":${JSON.stringify(summary)}}`)
  };
}
function refuseNone({ file, report: { artifact, notes } }) {
  if (artifact !== "unknown") return;
  const why = notes.join(" ");
  throw new Unusable(why.startsWith(nameOf4(file)) ? why : `${nameOf4(file)}: ${why}`);
}
function described2({ artifact, subject, verdict, checks, keys, notes }) {
  return [
    `${artifact} ${subject}`,
    ...checks.map((check2) => check2.problem === void 0 ? `  ok      ${check2.name}` : problemLine(check2)),
    ...notes.map((note2) => `  note    ${note2}`),
    ...keys.map(({ keyId, fingerprint }) => `  key     ${keyId} SHA-256 ${fingerprint}`),
    VERDICTS2[verdict],
    ""
  ];
}
function problemLine(check2) {
  const outcome = check2.unknownMembers !== void 0 ? "UNKNOWN" : isOpen(check2) ? "NO KEY" : "FAILED";
  return `  ${outcome.padEnd(6)}  ${check2.name}: ${check2.problem}`;
}
function shortLines({ file, line, report }) {
  const { artifact, subject, verdict, checks, notes } = report;
  const place = line === void 0 ? file : `${file}:${line}`;
  return [
    `${VERDICTS2[verdict].padEnd(17)}  ${artifact} ${subject}  ${place}`,
    ...checks.filter(({ problem }) => problem !== void 0).map(problemLine),
    ...artifact === "unknown" ? notes.map((note2) => `  note    ${note2}`) : []
  ];
}
function print(lines) {
  return write2(lines.map(printable).join("\n"));
}
function printJson(text3) {
  return write2(printableJson(text3));
}
async function write2(text3) {
  if (!process.stdout.write(`${text3}
`))
    await new Promise((onward) => process.stdout.once("drain", onward));
}
var LINES, VERDICTS2;
var init_verify_command = __esm({
  "src/cli/verify-command.ts"() {
    "use strict";
    init_error_text();
    init_printable();
    init_verifier();
    init_summary();
    init_inputs();
    init_report();
    init_task();
    init_threads();
    LINES = {
      async alone(found) {
        refuseNone(found);
        const { report } = found;
        const { checks, notProven: notProven2 } = report;
        await print([
          ...described2(report),
          ...checks.some(({ missingKeys }) => missingKeys !== void 0) ? [
            "A key that is not given is at GET /keys/{keyId} of the service: save it, and give it with --jwks.",
            ""
          ] : [],
          ...checks.some(({ missingLog }) => missingLog !== void 0) ? [
            "The keys of a log are at GET /.well-known/countersign-log of the service: save the answer, and give it with --log.",
            ""
          ] : [],
          "A pass does not prove:",
          ...notProven2.map((limit) => `  - ${limit}`)
        ]);
      },
      each: (found) => print(shortLines(found)),
      end: (summary) => print([
        ...summaryLines(summary),
        "A pass does not prove that a policy was right, that an effect happened as reported, or that nothing is missing."
      ])
    };
    VERDICTS2 = {
      valid: "valid",
      invalid: "INVALID",
      unchecked: "cannot be checked"
    };
  }
});

// node_modules/commander/esm.mjs
var import_index = __toESM(require_commander(), 1);
var {
  program,
  createCommand,
  createArgument,
  createOption,
  CommanderError,
  InvalidArgumentError,
  InvalidOptionArgumentError,
  // deprecated old name
  Command,
  Argument,
  Option,
  Help
} = import_index.default;

// src/cli/options.ts
function collected(value, earlier2 = []) {
  if (value === "") throw new InvalidArgumentError("It is empty.");
  return [...earlier2, value];
}
function exitUsageError({ exitCode }) {
  process.exit(exitCode === 0 ? 0 : 2);
}

// src/cli/verify-program.ts
function defineVerify(command, threadFile) {
  command.description(
    "verify saved evidence offline; exits 0 all valid, 1 any invalid, 2 any cannot be checked or an export cut short"
  ).argument(
    "<file...>",
    "evidence as the service answered it: pieces, pages, exports as NDJSON, folders of them; '-' reads stdin"
  ).requiredOption(
    "--jwks <file>",
    "saved keys: the answers of GET /.well-known/jwks.json, GET /.well-known/approver-keys.json or GET /keys/{keyId}; may be repeated",
    collected
  ).option(
    "--log <file>",
    "for a bundle: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy"
  ).option("--json", "print the report as JSON; of several pieces {reports, summary}").option("--quiet", "print only what is not valid, and the summary").option(
    "--report <file.html>",
    "write a page for people: who asked for what, who approved, what was done"
  ).action(async (files, options) => {
    const { verifyCommand: verifyCommand2 } = await Promise.resolve().then(() => (init_verify_command(), verify_command_exports));
    const { jwks, log, report, json, quiet } = options;
    process.exitCode = await verifyCommand2({
      files,
      jwks,
      log,
      report,
      json: json === true,
      quiet: quiet === true,
      threadFile
    });
  });
}

// tools/verifier-page/command.ts
init_threads();
if (!serveTasks()) {
  const program2 = new Command("node countersign-verify.mjs").exitOverride(exitUsageError);
  defineVerify(program2, new URL(import.meta.url));
  await program2.parseAsync();
}

/*
node_modules/@noble/curves

The MIT License (MIT)

Copyright (c) 2022 Paul Miller (https://paulmillr.com)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the “Software”), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/

/*
node_modules/@noble/hashes

The MIT License (MIT)

Copyright (c) 2022 Paul Miller (https://paulmillr.com)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the “Software”), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/

/*
node_modules/@noble/post-quantum

The MIT License (MIT)

Copyright (c) 2024 Paul Miller (https://paulmillr.com)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the “Software”), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/

/*
node_modules/commander

(The MIT License)

Copyright (c) 2011 TJ Holowaychuk <tj@vision-media.ca>

Permission is hereby granted, free of charge, to any person obtaining
a copy of this software and associated documentation files (the
'Software'), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be
included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED 'AS IS', WITHOUT WARRANTY OF ANY KIND,
EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT,
TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
